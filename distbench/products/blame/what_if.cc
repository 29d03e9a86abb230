// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/what_if.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "distbench/products/blame/stragglers.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::blame {
namespace {

constexpr double kQuantile = 0.99;
constexpr double kWorthwhileSaving = 0.01;
constexpr double kConfidence = 0.95;
constexpr size_t kMostTried = 8;  // each is a replay of all requests

// Returns how long the call takes if its RPCs take so long. Times in the replay
// are since its start.
int64_t PlayHandler(const std::vector<Call>& calls, const Call& handler,
                    const std::vector<int64_t>& durations_ns) {
  if (handler.children.empty()) return handler.duration_ns();
  std::vector<int> by_end = handler.children;
  std::stable_sort(by_end.begin(), by_end.end(), [&](int a, int b) {
    return calls[a].end_ns < calls[b].end_ns;
  });
  std::map<int, int64_t> ends_ns;              // in the replay
  int64_t ended_before_ns = handler.start_ns;  // in the request
  int64_t end_before_ns = 0;                   // in the replay
  int64_t last_ns = 0;
  auto ended = by_end.begin();
  for (const int child : handler.children) {
    // An RPC without duration may have ended before it is its turn.
    for (; *ended < child &&
           calls[*ended].end_ns <= calls[calls[child].fanout].start_ns;
         ++ended) {
      ended_before_ns = calls[*ended].end_ns;
      end_before_ns = std::max(end_before_ns, ends_ns[*ended]);
    }
    ends_ns[child] = end_before_ns + calls[child].start_ns - ended_before_ns +
                     durations_ns[child];
    last_ns = std::max(last_ns, ends_ns[child]);
  }
  return last_ns + handler.end_ns - calls[by_end.back()].end_ns;
}

}  // namespace

int64_t Replay(const RequestTree& tree,
               absl::Span<const int64_t> durations_ns) {
  std::vector<int64_t> played_ns(durations_ns.begin(), durations_ns.end());
  // Children come after their parents.
  for (size_t i = played_ns.size(); i-- > 0;) {
    if (played_ns[i] != kSame) continue;
    played_ns[i] = PlayHandler(tree.calls, tree.calls[i], played_ns);
  }
  return tree.lateness_ns + played_ns.front();
}

namespace {

// What to make faster: RPC and instance.
using Remedy = std::pair<int, int>;

// Those that there are others for, with most of the tail's own time first.
std::vector<Remedy> RemediesFor(const TracedRequests& requests,
                                const TailWindow& tail) {
  std::map<int, std::map<int, int64_t>> own_ns;
  for (const RequestTree& tree : requests.trees) {
    for (const Call& call : tree.calls) own_ns[call.rpc][call.server] += 0;
  }
  for (const int position : tail.trees) {
    const RequestTree& tree = requests.trees[position];
    for (const PathStep& step : CriticalPath(tree)) {
      const Call& call = tree.calls[step.call];
      own_ns[call.rpc][call.server] += step.own_ns;
    }
  }
  std::vector<Remedy> remedies;
  for (const auto& [rpc, instances] : own_ns) {
    if (instances.size() == 1) continue;
    for (const auto& [instance, time_ns] : instances) {
      remedies.push_back({rpc, instance});
    }
  }
  std::stable_sort(
      remedies.begin(), remedies.end(), [&](const Remedy& a, const Remedy& b) {
        return own_ns[a.first][a.second] > own_ns[b.first][b.second];
      });
  return remedies;
}

// An RPC of the instance, or one that it is compared with.
struct Match {
  int64_t duration_ns;
  size_t tree;
  int call;
  double weight;

  auto operator<=>(const Match&) const = default;
};

// RPCs that are alike but for the instance, by duration.
struct RequestClass {
  std::vector<Match> own;
  std::vector<Match> others;
};

// The RPCs that a remedy changes, by the RPC whose handler sent them, and by
// whether it asked others, too.
using RequestClasses = std::map<std::pair<int, bool>, RequestClass>;

RequestClasses ClassesOf(const TracedRequests& requests, const Remedy& remedy) {
  RequestClasses classes;
  for (size_t i = 0; i < requests.trees.size(); ++i) {
    const std::vector<Call>& calls = requests.trees[i].calls;
    for (const Call& handler : calls) {
      RequestClass sent;
      std::set<int> servers;
      for (const int child : handler.children) {
        const Call& call = calls[child];
        if (call.rpc != remedy.first) continue;
        servers.insert(call.server);
        (call.server == remedy.second ? sent.own : sent.others)
            .push_back({call.duration_ns(), i, child, 1});
      }
      const bool has_siblings = servers.size() > 1;
      if (has_siblings && sent.own.empty()) continue;
      // Those of a request count for as many as the instance's own.
      const double weight = has_siblings
                                ? static_cast<double>(sent.own.size()) /
                                      static_cast<double>(sent.others.size())
                                : 1;
      for (Match& other : sent.others) other.weight = weight;
      auto& [own, others] = classes[{handler.rpc, has_siblings}];
      own.insert(own.end(), sent.own.begin(), sent.own.end());
      others.insert(others.end(), sent.others.begin(), sent.others.end());
    }
  }
  for (auto& [key, alike] : classes) {
    for (std::vector<Match>* matches : {&alike.own, &alike.others}) {
      std::sort(matches->begin(), matches->end());
    }
  }
  return classes;
}

// Total times of the requests.
using Totals = std::vector<int64_t>;

// The classes without the requests of a block.
RequestClasses Without(size_t block, const TracedRequests& requests,
                       RequestClasses classes) {
  for (auto& [key, alike] : classes) {
    for (std::vector<Match>* matches : {&alike.own, &alike.others}) {
      std::erase_if(*matches, [&](const Match& match) {
        return BlockOf(match.tree, requests.trees.size()) == block;
      });
    }
  }
  return classes;
}

// New durations by tree and call.
using Durations = std::map<size_t, std::vector<int64_t>>;

// Gives the instance's RPCs the durations of others with the same ranks.
void Exchange(const TracedRequests& requests, const RequestClass& alike,
              Durations& durations_ns) {
  const auto& [own, others] = alike;
  if (own.empty() || others.empty()) return;
  double others_weight = 0;
  for (const Match& match : others) others_weight += match.weight;
  const double scale = others_weight / static_cast<double>(own.size());
  auto other = others.begin();
  double weight = other->weight;  // up to this one
  for (size_t i = 0; i < own.size(); ++i) {
    const double rank = (static_cast<double>(i) + 0.5) * scale;
    while (weight < rank && std::next(other) != others.end()) {
      weight += (++other)->weight;
    }
    std::vector<int64_t>& of_tree = durations_ns[own[i].tree];
    of_tree.resize(requests.trees[own[i].tree].calls.size(), kSame);
    of_tree[own[i].call] = other->duration_ns;
  }
}

// Returns `now_ns` with what a remedy changes, but for requests that it leaves
// faster than slow_ns: none takes longer by more than its RPCs do.
Totals TotalsWith(const TracedRequests& requests, const RequestClasses& classes,
                  Totals now_ns, int64_t slow_ns) {
  Durations durations_ns;
  for (const auto& [key, alike] : classes) {
    Exchange(requests, alike, durations_ns);
  }
  for (const auto& [tree, of_tree] : durations_ns) {
    const std::vector<Call>& calls = requests.trees[tree].calls;
    int64_t longest_ns = now_ns[tree];
    for (size_t i = 0; i < calls.size(); ++i) {
      longest_ns += std::max<int64_t>(0, of_tree[i] - calls[i].duration_ns());
    }
    if (longest_ns < slow_ns) continue;
    now_ns[tree] = Replay(requests.trees[tree], of_tree);
  }
  return now_ns;
}

// How many requests fewer take slow_ns or longer.
int64_t FewerSlow(const TracedRequests& requests, const RequestClasses& classes,
                  const Totals& now_ns, int64_t slow_ns) {
  const auto count = [&](const Totals& totals_ns) {
    return std::count_if(totals_ns.begin(), totals_ns.end(),
                         [&](int64_t total_ns) { return total_ns >= slow_ns; });
  };
  return count(now_ns) - count(TotalsWith(requests, classes, now_ns, slow_ns));
}

// Sets p99_ns of a message with its bounds.
template <typename Message>
void SetP99(Totals totals_ns, Message& message) {
  std::sort(totals_ns.begin(), totals_ns.end());
  const auto count = static_cast<int64_t>(totals_ns.size());
  const auto at_rank = [&](int64_t rank) {  // from 1
    return static_cast<double>(
        totals_ns[std::clamp<int64_t>(rank, 1, count) - 1]);
  };
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, kQuantile, kConfidence);
  message.set_p99_ns(at_rank(
      static_cast<int64_t>(kQuantile * static_cast<double>(count)) + 1));
  message.set_p99_ns_lower(at_rank(ranks.lower));
  message.set_p99_ns_upper(at_rank(ranks.upper));
}

}  // namespace

ReportedBlame::WhatIfs TryRemedies(const TracedRequests& requests,
                                   const TailWindow& tail) {
  Totals totals_ns;
  for (const RequestTree& tree : requests.trees) {
    totals_ns.push_back(tree.total_ns());
  }
  ReportedBlame::WhatIfs what_ifs;
  SetP99(totals_ns, what_ifs);
  int64_t slow_ns = totals_ns[tail.trees.front()];
  for (const int tree : tail.trees) {
    slow_ns = std::min(slow_ns, totals_ns[tree]);
  }
  const std::vector<Remedy> remedies = RemediesFor(requests, tail);
  for (size_t i = 0; i < std::min(remedies.size(), kMostTried); ++i) {
    const RequestClasses classes = ClassesOf(requests, remedies[i]);
    ReportedBlame::Remedy remedy;
    SetP99(TotalsWith(requests, classes, totals_ns, /*slow_ns=*/0), remedy);
    remedy.set_saving(1 - remedy.p99_ns() / std::max(what_ifs.p99_ns(), 1.0));
    if (remedy.saving() < kWorthwhileSaving) continue;
    const int64_t fewer = FewerSlow(requests, classes, totals_ns, slow_ns);
    BlockAmounts added = {};
    for (size_t block = 0; block < kBlocks; ++block) {
      added[block] = static_cast<double>(
          fewer - FewerSlow(requests, Without(block, requests, classes),
                            totals_ns, slow_ns));
    }
    if (!IsThroughout(static_cast<double>(fewer), added,
                      kErrorOfWhatIfs / static_cast<double>(remedies.size()))) {
      continue;
    }
    remedy.set_rpc(requests.rpcs[remedies[i].first]);
    remedy.set_instance(requests.instances[remedies[i].second]);
    *what_ifs.add_remedies() = std::move(remedy);
  }
  std::stable_sort(
      what_ifs.mutable_remedies()->begin(), what_ifs.mutable_remedies()->end(),
      [](const auto& a, const auto& b) { return a.saving() > b.saving(); });
  return what_ifs;
}

}  // namespace distbench::blame
