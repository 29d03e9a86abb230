// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/collectives/slow_messages.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/median.h"

namespace distbench::collectives {
namespace {

// Of fewer pairs none is out of line.
constexpr size_t kEnoughPairs = 3;

// Above the median of the pairs of a step, and of the time per iteration.
constexpr double kMuchLonger = 3;
constexpr double kMuchTime = 0.1;

// A rank that sends, and the one that receives.
using Pair = std::pair<std::string, std::string>;

struct Messages {
  double p50_ns = 0;
  double per_iteration = 0;
};

// What the ranks of the group send by an RPC. A pair whose histogram was not
// kept is left out.
std::map<Pair, Messages> MessagesOf(const TestResult& result, int rpc,
                                    const MeasuredCollective& collective) {
  std::map<Pair, Messages> all;
  const auto& logs = result.service_logs().instance_logs();
  for (const CollectiveRankTable::Row& rank : collective.ranks) {
    const auto log = logs.find(rank.rank());
    if (log == logs.end() || rank.iterations() == 0) continue;
    for (const auto& [peer, peer_log] : log->second.peer_logs()) {
      const auto rpc_log = peer_log.rpc_logs().find(rpc);
      if (rpc_log == peer_log.rpc_logs().end()) continue;
      const stats::LogHistogram times =
          results::HistogramOf(rpc_log->second.statistics().service_time_ns());
      if (times.count() == 0) continue;
      all[{rank.rank(), peer}] = {
          .p50_ns = static_cast<double>(times.ValueAtQuantile(0.5)),
          .per_iteration = static_cast<double>(times.count()) /
                           static_cast<double>(rank.iterations())};
    }
  }
  return all;
}

double UsualNs(const std::map<Pair, Messages>& all) {
  std::vector<double> times;
  for (const auto& [pair, messages] : all) times.push_back(messages.p50_ns);
  return stats::LowMedian(std::move(times));
}

// The ranks that all pairs have.
std::vector<std::string> CommonRanks(const std::set<Pair>& pairs) {
  std::vector<std::string> common;
  for (const std::string& rank :
       {pairs.begin()->first, pairs.begin()->second}) {
    if (absl::c_all_of(pairs, [&](const Pair& pair) {
          return pair.first == rank || pair.second == rank;
        })) {
      common.push_back(rank);
    }
  }
  return common;
}

std::string WhoseText(const std::set<Pair>& pairs) {
  const std::vector<std::string> common = CommonRanks(pairs);
  const auto& [sender, receiver] = *pairs.begin();
  if (common.size() == 1) {
    return absl::StrCat("messages to and from ", common[0]);
  }
  if (pairs.size() == 1) {
    return absl::StrCat("messages from ", sender, " to ", receiver);
  }
  if (common.size() == 2) {
    return absl::StrCat("messages between ", sender, " and ", receiver);
  }
  return absl::StrCat("messages of ", pairs.size(), " pairs, such as from ",
                      sender, " to ", receiver, ",");
}

}  // namespace

void JudgeSlowMessages(const TestResult& result,
                       const MeasuredCollective& collective,
                       report::FindingList& findings) {
  const CollectiveTable::Row& row = collective.row;
  if (row.time_ns() <= 0) return;
  std::set<Pair> slow;
  double slowest_ns = 0;
  double usual_ns = 0;
  const DistributedSystemDescription& test = result.traffic_config();
  for (const auto& [rpc, count] : MessagesByRpc(test, row.collective())) {
    // What is longer because it is more says nothing about a link.
    if (!SizesByRank(test, rpc).empty()) continue;
    const std::map<Pair, Messages> all = MessagesOf(result, rpc, collective);
    if (all.size() < kEnoughPairs) continue;
    const double median_ns = UsualNs(all);
    for (const auto& [pair, messages] : all) {
      const double longer_ns = messages.p50_ns - median_ns;
      if (messages.p50_ns < kMuchLonger * median_ns ||
          longer_ns * messages.per_iteration < kMuchTime * row.time_ns()) {
        continue;
      }
      slow.insert(pair);
      if (messages.p50_ns <= slowest_ns) continue;
      slowest_ns = messages.p50_ns;
      usual_ns = median_ns;
    }
  }
  if (slow.empty()) return;
  findings.Add(
      Finding::NOTE, "slow_messages",
      absl::StrCat(WhoseText(slow), " take up to ",
                   base::HumanDuration(slowest_ns), " (p50) in ",
                   row.collective(), " of ", row.group(),
                   ", and those of the others ", base::HumanDuration(usual_ns),
                   ": all ranks wait for them"),
      "Look at its host, its network, and what else is on the link.");
}

}  // namespace distbench::collectives
