// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/rpc_traffic.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "distbench/base/time_units.h"

namespace distbench::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

double Seconds(double ns) { return ns / base::kNsPerSecond; }

template <typename Number>
void SubtractDownToZero(Number other, Number& number) {
  number -= std::min(other, number);
}

void FillHistogram(const BucketedLatencies& latencies,
                   prometheus::ClientMetric::Histogram& histogram) {
  uint64_t cumulative_count = 0;
  for (size_t i = 0; i < latencies.counts.size(); ++i) {
    cumulative_count += latencies.counts[i];
    const double bound = i < kLatencyBoundsNs.size()
                             ? Seconds(static_cast<double>(kLatencyBoundsNs[i]))
                             : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({cumulative_count, bound});
  }
  histogram.sample_count = cumulative_count;
  histogram.sample_sum = Seconds(latencies.sum_ns);
}

MetricFamily LatencyFamily(const std::string& name, const std::string& help,
                           BucketedLatencies RpcTraffic::*latencies,
                           const std::vector<LabelledTraffic>& rpcs) {
  MetricFamily family = Family(name, help, MetricType::Histogram);
  for (const LabelledTraffic& rpc : rpcs) {
    if ((rpc.traffic.*latencies).count() == 0) continue;
    FillHistogram(rpc.traffic.*latencies,
                  AddMetric(rpc.labels, family).histogram);
  }
  return family;
}

MetricFamily CountFamily(const std::string& name, const std::string& help,
                         int64_t stats::IntervalCounts::*count,
                         const std::vector<LabelledTraffic>& rpcs) {
  MetricFamily family = Family(name, help, MetricType::Counter);
  for (const LabelledTraffic& rpc : rpcs) {
    AddMetric(rpc.labels, family).counter.value =
        static_cast<double>(rpc.traffic.counts.*count);
  }
  return family;
}

MetricFamily EndedFamily(const std::vector<LabelledTraffic>& rpcs) {
  MetricFamily family = Family("distbench_rpc_ended_total",
                               "RPCs that have ended", MetricType::Counter);
  const auto add = [&](Labels labels, const char* outcome, int64_t count) {
    labels.emplace_back("outcome", outcome);
    AddMetric(labels, family).counter.value = static_cast<double>(count);
  };
  for (const auto& [labels, traffic] : rpcs) {
    add(labels, "succeeded", traffic.counts.succeeded);
    add(labels, "failed", traffic.counts.failed);
  }
  return family;
}

}  // namespace

void BucketedLatencies::Add(const stats::LogHistogram& latencies_ns) {
  for (const stats::LogHistogram::Bucket& bucket : latencies_ns.Buckets()) {
    const auto bound = std::lower_bound(kLatencyBoundsNs.begin(),
                                        kLatencyBoundsNs.end(), bucket.lower);
    counts[bound - kLatencyBoundsNs.begin()] += bucket.count;
  }
  counts.back() += latencies_ns.overflow_count();
  sum_ns += latencies_ns.sum();
}

void BucketedLatencies::Add(const BucketedLatencies& other) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  sum_ns += other.sum_ns;
}

void BucketedLatencies::Subtract(const BucketedLatencies& other) {
  for (size_t i = 0; i < counts.size(); ++i) {
    SubtractDownToZero(other.counts[i], counts[i]);
  }
  SubtractDownToZero(other.sum_ns, sum_ns);
}

uint64_t BucketedLatencies::count() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

void RpcTraffic::Add(const stats::IntervalSeries& series) {
  stats::IntervalSeries::ForEach(
      {&series}, [this](const stats::IntervalSeries::View& view) {
        counts.Add(view.counts);
        service_time.Add(view.service_time_ns);
        response_time.Add(view.response_time_ns);
      });
}

void RpcTraffic::Add(const RpcTraffic& other) {
  counts.Add(other.counts);
  service_time.Add(other.service_time);
  response_time.Add(other.response_time);
}

void RpcTraffic::Subtract(const RpcTraffic& other) {
  for (const auto count :
       {&stats::IntervalCounts::offered, &stats::IntervalCounts::sent,
        &stats::IntervalCounts::succeeded, &stats::IntervalCounts::failed,
        &stats::IntervalCounts::warmup, &stats::IntervalCounts::request_bytes,
        &stats::IntervalCounts::response_bytes}) {
    SubtractDownToZero(other.counts.*count, counts.*count);
  }
  service_time.Subtract(other.service_time);
  response_time.Subtract(other.response_time);
}

std::vector<MetricFamily> RpcFamilies(
    const std::vector<LabelledTraffic>& rpcs) {
  return {
      LatencyFamily("distbench_rpc_service_time_seconds",
                    "Time from the actual send of RPCs that succeeded",
                    &RpcTraffic::service_time, rpcs),
      LatencyFamily("distbench_rpc_response_time_seconds",
                    "Time from the intended send, in open loops",
                    &RpcTraffic::response_time, rpcs),
      EndedFamily(rpcs),
      CountFamily("distbench_rpc_warmup_total",
                  "RPCs of the warm-up that have ended",
                  &stats::IntervalCounts::warmup, rpcs),
      CountFamily("distbench_rpc_offered_total",
                  "RPCs that open loops were to send",
                  &stats::IntervalCounts::offered, rpcs),
      CountFamily("distbench_rpc_request_bytes_total",
                  "Bytes of the requests of RPCs that succeeded",
                  &stats::IntervalCounts::request_bytes, rpcs),
      CountFamily("distbench_rpc_response_bytes_total",
                  "Bytes of the responses of RPCs that succeeded",
                  &stats::IntervalCounts::response_bytes, rpcs),
  };
}

}  // namespace distbench::metrics
