// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/request_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/report/export/traces.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/walk.h"

namespace distbench::blame {
namespace {

// Times beyond these are damage, and sums of them could overflow: a day, and
// the year 2255.
constexpr int64_t kLongestNs = 100'000'000'000'000;
constexpr int64_t kLatestNs = 9'000'000'000'000'000'000;

bool IsDuration(int64_t ns) { return ns >= 0 && ns <= kLongestNs; }

bool IsDamaged(const report::TraceTree& tree) {
  return std::any_of(tree.begin(), tree.end(),
                     [](const report::TracedRpc& rpc) {
                       const RpcSample& sample = *rpc.sample;
                       return !IsDuration(sample.latency_ns()) ||
                              sample.lateness_ns() > kLongestNs ||
                              sample.start_timestamp_ns() < 0 ||
                              sample.start_timestamp_ns() > kLatestNs ||
                              !IsDuration(sample.server_queue_ns()) ||
                              !IsDuration(sample.server_handler_ns());
                     });
}

// The last hop of an RPC's trace: which action of its client sent it.
struct Origin {
  explicit Origin(const report::TracedRpc& rpc) {
    const TraceContext& context = rpc.sample->trace_context();
    const int hop = context.engine_ids_size() - 1;
    const auto at = [hop](const auto& field) -> int64_t {
      return hop < field.size() ? field[hop] : 0;
    };
    list = at(context.actionlist_indices());
    action = at(context.action_indices());
    fanout = {list, at(context.actionlist_invocations()), action,
              at(context.action_iterations())};
    target = at(context.fanout_index());
  }

  int64_t list;
  int64_t action;
  std::array<int64_t, 4> fanout;
  int64_t target;
};

// How many RPCs each action of a handler has made: the key is list and action.
using RpcsByAction = std::map<std::pair<int64_t, int64_t>, int64_t>;

// What a handler sent.
struct Sent {
  Sent(const report::TraceTree& tree, const report::TracedRpc& handler) {
    for (const int child : handler.children) {
      const Origin origin(tree[child]);
      ++by_action[{origin.list, origin.action}];
      targets[origin.fanout].insert(origin.target);
    }
  }

  // Whether no number is missing among the targets of a fanout.
  bool HasAllTargets() const {
    return std::all_of(targets.begin(), targets.end(), [](const auto& fanout) {
      return static_cast<int64_t>(fanout.second.size()) - 1 ==
             *fanout.second.rbegin();
    });
  }

  RpcsByAction by_action;
  std::map<std::array<int64_t, 4>, std::set<int64_t>> targets;
};

// Tells complete trees from others, by what is usual in the same test.
class CompletenessCheck {
 public:
  CompletenessCheck(const HandlerActions& actions,
                    absl::Span<const report::TraceTree> trees) {
    for (const report::TraceTree& tree : trees) {
      for (const report::TracedRpc& rpc : tree) {
        RpcsByAction& usual = usual_[{*rpc.server, rpc.rpc_name}];
        for (const auto& [action, count] : Sent(tree, rpc).by_action) {
          if (actions.varying.count(action) > 0) continue;
          usual[action] = std::max(usual[action], count);
        }
      }
    }
  }

  bool IsComplete(const report::TraceTree& tree) const {
    return std::all_of(tree.begin(), tree.end(),
                       [&](const report::TracedRpc& rpc) {
                         // A handler that failed may have made only some of its
                         // RPCs.
                         return !rpc.error.empty() || IsComplete(tree, rpc);
                       });
  }

 private:
  bool IsComplete(const report::TraceTree& tree,
                  const report::TracedRpc& rpc) const {
    Sent sent(tree, rpc);
    const RpcsByAction& usual = usual_.at({*rpc.server, rpc.rpc_name});
    return sent.HasAllTargets() &&
           std::all_of(usual.begin(), usual.end(), [&](const auto& action) {
             return sent.by_action[action.first] == action.second;
           });
  }

  // By instance, because fanouts such as linear_x{1} have no target at some,
  // and by the RPC that it handles.
  std::map<std::pair<std::string, std::string>, RpcsByAction> usual_;
};

// Gives names numbers.
class NameNumbers {
 public:
  explicit NameNumbers(std::vector<std::string>& names) : names_(names) {}

  int Of(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, int> numbers_;
};

// Makes the RequestTrees of the requests that are the same RPC.
class TreeMaker {
 public:
  TreeMaker(const HandlerActions& actions, TracedRequests& requests)
      : actions_(actions),
        requests_(requests),
        rpcs_(requests.rpcs),
        instances_(requests.instances) {}

  void Add(const report::TraceTree& traced) {
    traced_ = &traced;
    const report::TracedRpc& root = traced.front();
    RequestTree tree;
    tree.client = instances_.Of(*root.client);
    tree.lateness_ns = std::max<int64_t>(root.sample->lateness_ns(), 0);
    if (root.sample->has_lateness_ns()) {
      requests_.reported.set_latency("response_time");
    }
    AddCall(0, -1, 0, root.sample->latency_ns(), tree);
    // The tree grows while it is walked.
    origins_.assign(1, 0);
    for (size_t i = 0; i < tree.calls.size(); ++i) {
      AddChildren(static_cast<int>(i), tree);
    }
    call_count_ += static_cast<int64_t>(tree.calls.size());
    requests_.reported.set_call_count(call_count_);
    requests_.reported.set_moved_call_count(moved_call_count_);
    requests_.trees.push_back(std::move(tree));
  }

 private:
  void AddCall(int position, int parent, int64_t start_ns, int64_t end_ns,
               RequestTree& tree) {
    const report::TracedRpc& rpc = (*traced_)[position];
    Call& call = tree.calls.emplace_back();
    call.rpc = rpcs_.Of(rpc.rpc_name);
    call.server = instances_.Of(*rpc.server);
    call.parent = parent;
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    const RpcSample& sample = *rpc.sample;
    if (sample.has_server_queue_ns() && sample.has_server_handler_ns()) {
      const int64_t network_ns = sample.latency_ns() -
                                 sample.server_queue_ns() -
                                 sample.server_handler_ns();
      call.waits = {.network_ns = std::max<int64_t>(network_ns, 0),
                    .server_queue_ns = sample.server_queue_ns()};
    }
  }

  void AddChildren(int parent, RequestTree& tree) {
    const int64_t from_ns = tree.calls[parent].start_ns;
    const int64_t to_ns = tree.calls[parent].end_ns;
    const std::vector<int> awaited = AwaitedChildren(origins_[parent], to_ns);
    const int64_t shift_ns = ShiftInto(from_ns, to_ns, awaited);
    std::map<std::array<int64_t, 4>, int> fanouts;
    for (const int child : awaited) {
      const int64_t start_ns =
          std::clamp(StartOf(child) + shift_ns, from_ns, to_ns);
      const int64_t end_ns =
          std::clamp(EndOf(child) + shift_ns, from_ns, to_ns);
      moved_call_count_ += start_ns != StartOf(child) || end_ns != EndOf(child);
      const int position = static_cast<int>(tree.calls.size());
      AddCall(child, parent, start_ns, end_ns, tree);
      tree.calls[parent].children.push_back(position);
      origins_.push_back(child);
      const auto [fanout, is_new] =
          fanouts.emplace(Origin((*traced_)[child]).fanout, position);
      tree.calls.back().fanout = fanout->second;
    }
  }

  std::vector<int> AwaitedChildren(int position, int64_t end_ns) const {
    const report::TracedRpc& rpc = (*traced_)[position];
    std::vector<int> awaited;
    for (const int child : rpc.children) {
      if (actions_.answering_early.count(rpc.rpc_name) > 0 &&
          EndOf(child) > end_ns) {
        continue;
      }
      awaited.push_back(child);
    }
    return awaited;
  }

  // The smallest shift that brings the RPCs, which are in the order of their
  // start, between these times, or at least their end.
  int64_t ShiftInto(int64_t from_ns, int64_t to_ns,
                    absl::Span<const int> rpcs) const {
    if (rpcs.empty()) return 0;
    int64_t end_ns = EndOf(rpcs.front());
    for (const int rpc : rpcs) end_ns = std::max(end_ns, EndOf(rpc));
    const int64_t latest_ns = to_ns - end_ns;
    const int64_t earliest_ns = from_ns - StartOf(rpcs.front());
    return std::clamp<int64_t>(0, std::min(earliest_ns, latest_ns), latest_ns);
  }

  // Since the root was sent, by the clock of the RPC's client.
  int64_t StartOf(int position) const {
    return (*traced_)[position].start_ns() - traced_->front().start_ns();
  }
  int64_t EndOf(int position) const {
    return StartOf(position) + (*traced_)[position].sample->latency_ns();
  }

  const HandlerActions& actions_;
  TracedRequests& requests_;
  NameNumbers rpcs_;
  NameNumbers instances_;
  int64_t call_count_ = 0;
  int64_t moved_call_count_ = 0;
  const report::TraceTree* traced_ = nullptr;
  std::vector<int> origins_;  // positions of the tree's calls in *traced_
};

}  // namespace

TracedTest CollectRequests(const TestResult& result) {
  TracedTest test;
  std::map<std::string, int64_t> succeeded;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const results::RpcCounts own = results::CountsOf(view.log.statistics());
    succeeded[view.rpc_name] += own.succeeded_count;
    test.dropped_sample_count += own.dropped_sample_count;
  });
  const std::vector<report::TraceTree> traces = report::CollectTraces(result);
  const HandlerActions actions(result.traffic_config());
  const CompletenessCheck completeness(actions, traces);
  std::map<std::string, TracedRequests> by_rpc;
  std::map<std::string, TreeMaker> makers;
  for (const report::TraceTree& tree : traces) {
    const report::TracedRpc& root = tree.front();
    if (root.sample->trace_context().engine_ids_size() != 1) {
      ++test.rootless_count;
      continue;
    }
    TracedRequests& requests = by_rpc[root.rpc_name];
    ReportedBlame::BlamedRequests& reported = requests.reported;
    if (root.sample->warmup()) {
      reported.set_warmup_count(reported.warmup_count() + 1);
    } else if (!root.error.empty()) {
      reported.set_failed_count(reported.failed_count() + 1);
    } else if (IsDamaged(tree)) {
      reported.set_damaged_count(reported.damaged_count() + 1);
    } else if (!completeness.IsComplete(tree)) {
      reported.set_incomplete_count(reported.incomplete_count() + 1);
    } else {
      makers.try_emplace(root.rpc_name, actions, requests)
          .first->second.Add(tree);
    }
  }
  for (auto& [rpc, requests] : by_rpc) {
    if (requests.rpcs.empty()) requests.rpcs.push_back(rpc);
    ReportedBlame::BlamedRequests& reported = requests.reported;
    reported.set_rpc(rpc);
    if (reported.latency().empty()) reported.set_latency("service_time");
    reported.set_trace_count(static_cast<int64_t>(requests.trees.size()));
    reported.set_succeeded_count(succeeded[rpc]);
    test.requests.push_back(std::move(requests));
  }
  return test;
}

namespace {

template <typename Entries>
auto ByName(const Entries& entries) {
  std::map<std::string, const typename Entries::value_type*> by_name;
  for (const auto& entry : entries) by_name[entry.name()] = &entry;
  return by_name;
}

// stochastic{1:4} always has four targets, stochastic{0.7:1,0.3:4} has not.
bool HasVaryingFanout(const RpcSpec& rpc) {
  return absl::StartsWith(rpc.fanout_filter(), "stochastic") &&
         absl::StrContains(rpc.fanout_filter(), ",");
}

bool HasVaryingIterations(const Action& action) {
  const Iterations& iterations = action.iterations();
  return action.has_iterations() &&
         (!iterations.has_max_iteration_count() ||
          iterations.has_max_duration_us() || iterations.has_max_duration());
}

}  // namespace

HandlerActions::HandlerActions(const DistributedSystemDescription& config) {
  const auto actions = ByName(config.actions());
  const auto rpcs = ByName(config.rpc_descriptions());
  const auto varies = [&](const Action& action) {
    const auto rpc = rpcs.find(action.rpc_name());
    return action.predicates_size() > 0 || HasVaryingIterations(action) ||
           (rpc != rpcs.end() && HasVaryingFanout(*rpc->second));
  };
  // A list that a varying action starts varies as a whole, and so on.
  std::set<std::string> varying_lists;
  size_t known_count = 0;
  do {
    known_count = varying_lists.size();
    for (int i = 0; i < config.action_lists_size(); ++i) {
      const ActionList& list = config.action_lists(i);
      for (int j = 0; j < list.action_names_size(); ++j) {
        const auto found = actions.find(list.action_names(j));
        if (found == actions.end()) continue;
        const Action& action = *found->second;
        if (action.send_response_when_done()) {
          answering_early.insert(list.name());
        }
        if (!varies(action) && varying_lists.count(list.name()) == 0) continue;
        varying.insert({i, j});
        if (action.has_action_list_name()) {
          varying_lists.insert(action.action_list_name());
        }
      }
    }
  } while (varying_lists.size() > known_count);
}

}  // namespace distbench::blame
