// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/progress.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/message_sums.h"

namespace distbench::sequencer {
namespace {

constexpr int64_t kReportsPerSecond = 1000;

// A report by itself costs the sequencer some 100 us, most of it for waking up;
// one with a pong some 10 us.
constexpr int64_t kMostReportsByThemselves = 200;

using ActionsByName = absl::flat_hash_map<std::string, const Action*>;

int64_t LongestChainUs(const ActionList& list, const ActionsByName& actions) {
  int64_t longest_us = 0;
  std::map<std::string, int64_t> end_us;
  for (const std::string& name : list.action_names()) {
    const auto it = actions.find(name);
    if (it == actions.end()) continue;
    const Action& action = *it->second;
    int64_t start_us = 0;
    // Dependencies precede the actions that depend on them.
    for (const std::string& dependency : action.dependencies()) {
      start_us = std::max(start_us, end_us[dependency]);
    }
    end_us[name] =
        base::SaturatingAdd(start_us, action.iterations().max_duration_us());
    longest_us = std::max(longest_us, end_us[name]);
  }
  return longest_us;
}

}  // namespace

absl::Duration ProgressInterval(int64_t node_count) {
  return std::max(absl::Seconds(1),
                  absl::Seconds(1) * node_count / kReportsPerSecond);
}

bool ReportsWithPongs(int64_t node_count) {
  return node_count > kMostReportsByThemselves;
}

void UpdateProgress(const TrafficProgress& newer, TrafficProgress& progress) {
  TrafficProgress updated;
  if (progress.has_traffic_time_ns() && !newer.has_traffic_time_ns()) {
    updated.set_traffic_time_ns(progress.traffic_time_ns());
  }
  results::AddProgress(newer, updated);
  progress = std::move(updated);
}

std::optional<int64_t> ExpectedDurationUs(
    const DistributedSystemDescription& test) {
  ActionsByName actions;
  for (const Action& action : test.actions()) actions[action.name()] = &action;
  int64_t longest_us = 0;
  for (const ActionList& list : test.action_lists()) {
    const bool is_main_list = std::any_of(
        test.services().begin(), test.services().end(),
        [&](const ServiceSpec& s) { return s.name() == list.name(); });
    if (is_main_list) {
      longest_us = std::max(longest_us, LongestChainUs(list, actions));
    }
  }
  if (longest_us == 0) return std::nullopt;
  return longest_us;
}

}  // namespace distbench::sequencer
