// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/traffic_metrics.h"

#include <algorithm>

#include "distbench/config/plan/test_names.h"
#include "distbench/results/time_series.h"
#include "distbench/results/walk.h"

namespace distbench::node {

void TrafficMetrics::AddRpc(const std::string& test, const std::string& rpc,
                            const metrics::RpcTraffic& more) {
  absl::MutexLock lock(&mutex_);
  totals_.Add(more.counts);
  Counted& counted = Find({test, rpc});
  counted.traffic.Add(more);
  counted.last_use = ++uses_;
}

void TrafficMetrics::AddCpuSeconds(double more) {
  absl::MutexLock lock(&mutex_);
  cpu_seconds_ += more;
}

void TrafficMetrics::SetInFlight(int64_t count) {
  absl::MutexLock lock(&mutex_);
  in_flight_count_ = count;
}

TrafficMetrics::Counted& TrafficMetrics::Find(TestAndRpc key) {
  const auto found = rpcs_.find(key);
  if (found != rpcs_.end()) return found->second;
  if (rpcs_.size() >= kMostRpcs && !ForgetOldestExceptOf(key.first)) {
    key.second = metrics::kOtherNames;
  }
  return rpcs_[std::move(key)];
}

bool TrafficMetrics::ForgetOldestExceptOf(const std::string& test) {
  // The map is in the order of tests.
  if (rpcs_.begin()->first.first == test && rpcs_.rbegin()->first.first == test)
    return false;
  const auto use = [&](const auto& rpc) {
    return std::pair(rpc.first.first == test, rpc.second.last_use);
  };
  rpcs_.erase(std::min_element(
      rpcs_.begin(), rpcs_.end(),
      [&](const auto& a, const auto& b) { return use(a) < use(b); }));
  return true;
}

std::vector<prometheus::MetricFamily> TrafficMetrics::Collect() const {
  absl::MutexLock lock(&mutex_);
  std::vector<metrics::LabelledTraffic> rpcs;
  for (const auto& [key, counted] : rpcs_) {
    rpcs.push_back(
        {{{"test", key.first}, {"rpc", key.second}}, counted.traffic});
  }
  std::vector<prometheus::MetricFamily> families = metrics::RpcFamilies(rpcs);
  families.push_back(metrics::Counter("distbench_rpcs_succeeded_total",
                                      "RPCs that succeeded, of all tests",
                                      static_cast<double>(totals_.succeeded)));
  families.push_back(metrics::Counter("distbench_rpcs_failed_total",
                                      "RPCs that failed, of all tests",
                                      static_cast<double>(totals_.failed)));
  families.push_back(metrics::Gauge("distbench_rpcs_in_flight",
                                    "RPCs that have not ended",
                                    static_cast<double>(in_flight_count_)));
  families.push_back(
      metrics::Counter("distbench_tests_cpu_seconds_total",
                       "CPU time of the node manager and its engines "
                       "during tests",
                       cpu_seconds_));
  return families;
}

CountedTraffic::CountedTraffic(const DistributedSystemDescription& test,
                               TrafficMetrics* metrics)
    : test_(test), name_(config::NameOf(test)), metrics_(metrics) {}

void CountedTraffic::CountRecent(const stats::SeriesByRpc& recent,
                                 int64_t in_flight_count) {
  if (metrics_ == nullptr) return;
  absl::MutexLock lock(&mutex_);
  if (is_over_) return;
  for (const auto& [rpc, series] : recent) {
    metrics::RpcTraffic more;
    more.Add(series);
    Count(rpc, more);
  }
  metrics_->SetInFlight(in_flight_count);
}

void CountedTraffic::CountCpu(const RUsage& used) {
  if (metrics_ == nullptr) return;
  absl::MutexLock lock(&mutex_);
  const double before = cpu_seconds_;
  cpu_seconds_ = std::max(
      before, used.user_cpu_time_seconds() + used.system_cpu_time_seconds());
  metrics_->AddCpuSeconds(cpu_seconds_ - before);
}

void CountedTraffic::AddResults(const ResultChunk& chunk) {
  if (metrics_ == nullptr) return;
  absl::MutexLock lock(&mutex_);
  for (const auto& [rpc, encoded] : chunk.instance_log().rpc_time_series()) {
    stats::IntervalSeries series;
    // Of an engine that this node manager has started: it is valid.
    results::AddTimeSeries(encoded, series).IgnoreError();
    results_[rpc].Add(series);
  }
}

void CountedTraffic::CountRest() {
  if (metrics_ == nullptr) return;
  absl::MutexLock lock(&mutex_);
  if (is_over_) return;
  for (auto& [rpc, rest] : results_) {
    rest.Subtract(counted_[rpc]);
    Count(rpc, rest);
  }
  metrics_->SetInFlight(0);
  is_over_ = true;
}

void CountedTraffic::Count(int rpc, const metrics::RpcTraffic& more) {
  counted_[rpc].Add(more);
  metrics_->AddRpc(name_, results::RpcName(test_, rpc), more);
}

}  // namespace distbench::node
