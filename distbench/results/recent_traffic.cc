// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/recent_traffic.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/walk.h"

namespace distbench::results {
namespace {

// Latencies that cannot be read are no reason to show nothing.
void AddTimes(const Histogram& service_ns, const Histogram& response_ns,
              RecentTraffic::Times& times) {
  AddHistogram(service_ns, times.service_ns).IgnoreError();
  AddHistogram(response_ns, times.response_ns).IgnoreError();
}

void AddTimes(const stats::IntervalSeries::View& interval,
              RecentTraffic::Times& times) {
  times.service_ns.Merge(interval.service_time_ns);
  times.response_ns.Merge(interval.response_time_ns);
}

void AddCount(int64_t count, int64_t& sum) {
  base::SaturatingAddTo(sum, std::max<int64_t>(0, count));
}

}  // namespace

const stats::LogHistogram& RecentTraffic::Times::latency_ns() const {
  return response_ns.count() > 0 ? response_ns : service_ns;
}

void RecentTraffic::Add(const DistributedSystemDescription& test,
                        const stats::SeriesByRpc& measured) {
  const size_t rpc_count =
      test.rpc_descriptions().size() + test.rpc_replay_traces().size();
  const bool are_told_apart = rpc_count > 1 && rpc_count <= kMostRpcs;
  for (const auto& [index, series] : measured) {
    Rpc* const rpc = are_told_apart ? Find(RpcName(test, index)) : nullptr;
    stats::IntervalSeries::ForEach(
        {&series}, [&](const stats::IntervalSeries::View& interval) {
          AddTimes(interval, times_);
          if (rpc == nullptr) return;
          AddTimes(interval, rpc->times);
          AddCount(interval.counts.succeeded, rpc->succeeded_count);
          AddCount(interval.counts.failed, rpc->failed_count);
        });
  }
}

void RecentTraffic::Add(const TrafficProgress& report) {
  AddTimes(report.recent_service_time_ns(), report.recent_response_time_ns(),
           times_);
  for (const RecentRpc& more : report.recent_rpcs()) {
    Rpc* const rpc = Find(more.rpc_name());
    if (rpc == nullptr) continue;
    AddTimes(more.service_time_ns(), more.response_time_ns(), rpc->times);
    AddCount(more.succeeded_count(), rpc->succeeded_count);
    AddCount(more.failed_count(), rpc->failed_count);
  }
}

void RecentTraffic::TakeInto(TrafficProgress& report) {
  EncodeField(times_.service_ns,
              TrafficProgress::kRecentServiceTimeNsFieldNumber, report);
  EncodeField(times_.response_ns,
              TrafficProgress::kRecentResponseTimeNsFieldNumber, report);
  for (const auto& [name, rpc] : rpcs_) {
    RecentRpc& recent = *report.add_recent_rpcs();
    recent.set_rpc_name(name);
    recent.set_succeeded_count(rpc.succeeded_count);
    recent.set_failed_count(rpc.failed_count);
    EncodeField(rpc.times.service_ns, RecentRpc::kServiceTimeNsFieldNumber,
                recent);
    EncodeField(rpc.times.response_ns, RecentRpc::kResponseTimeNsFieldNumber,
                recent);
  }
  Clear();
}

RecentTraffic::Rpc* RecentTraffic::Find(const std::string& name) {
  const auto found = rpcs_.find(name);
  if (found != rpcs_.end()) return &found->second;
  return rpcs_.size() < kMostRpcs ? &rpcs_[name] : nullptr;
}

}  // namespace distbench::results
