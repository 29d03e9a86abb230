// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/recent_intervals.h"

#include <map>
#include <utility>

namespace distbench::stats {
namespace {

// Few enough to take negligible memory, unless there are as many RPCs.
constexpr size_t kMany = 256;

void PutTogetherByRpc(RecentIntervals::Parts& parts) {
  std::map<int, RecentIntervals::Part> by_rpc;
  for (RecentIntervals::Part& part : parts) {
    const auto [found, is_new] = by_rpc.try_emplace(part.rpc, std::move(part));
    if (is_new) continue;
    found->second.step = part.step;
    found->second.interval.Merge(part.interval);
  }
  parts.clear();
  for (auto& [rpc, part] : by_rpc) parts.push_back(std::move(part));
}

}  // namespace

void RecentIntervals::Publish(Parts parts) {
  std::unique_ptr<Parts> all(parts_.exchange(nullptr));
  if (all == nullptr) all = std::make_unique<Parts>();
  if (all->size() >= kMany) PutTogetherByRpc(*all);
  for (Part& part : parts) all->push_back(std::move(part));
  parts_.store(all.release());
}

}  // namespace distbench::stats
