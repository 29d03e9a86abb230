// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/request_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
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
  return absl::c_any_of(tree, [](const report::TracedRpc& rpc) {
    const RpcSample& sample = *rpc.sample;
    return !IsDuration(sample.latency_ns()) ||
           sample.lateness_ns() > kLongestNs ||
           sample.start_timestamp_ns() < 0 ||
           sample.start_timestamp_ns() > kLatestNs ||
           !IsDuration(sample.server_queue_ns()) ||
           !IsDuration(sample.server_handler_ns());
  });
}

// An action of a handler, by the positions of its list and of itself, and one
// of its iterations.
using ActionKey = std::pair<int64_t, int64_t>;
using FanoutKey = std::array<int64_t, 4>;

// The last hop of an RPC's trace: which action of its client sent it.
struct Origin {
  explicit Origin(const report::TracedRpc& rpc) {
    const TraceContext& context = rpc.sample->trace_context();
    const int hop = context.engine_ids_size() - 1;
    const auto at = [hop](const auto& field) -> int64_t {
      return hop < field.size() ? field[hop] : 0;
    };
    action = {at(context.actionlist_indices()), at(context.action_indices())};
    fanout = {action.first, at(context.actionlist_invocations()), action.second,
              at(context.action_iterations())};
    target = at(context.fanout_index());
  }

  ActionKey action;
  FanoutKey fanout;
  int64_t target;
};

// How many RPCs each action of a handler sent.
using RpcsByAction = std::map<ActionKey, int64_t>;

RpcsByAction SentBy(const report::TracedRpc& handler,
                    const report::TraceTree& tree) {
  RpcsByAction sent;
  for (const int child : handler.children) ++sent[Origin(tree[child]).action];
  return sent;
}

// Whether no number is missing among the targets of the handler's fanouts.
bool HasAllTargets(const report::TracedRpc& handler,
                   const report::TraceTree& tree) {
  std::map<FanoutKey, std::set<int64_t>> targets;
  for (const int child : handler.children) {
    const Origin origin(tree[child]);
    targets[origin.fanout].insert(origin.target);
  }
  return absl::c_all_of(targets, [](const auto& fanout) {
    return static_cast<int64_t>(fanout.second.size()) - 1 ==
           *fanout.second.rbegin();
  });
}

// Tells complete trees from others, by what is usual in the same test.
class CompletenessCheck {
 public:
  CompletenessCheck(const HandlerActions& actions,
                    absl::Span<const report::TraceTree> trees) {
    for (const report::TraceTree& tree : trees) {
      for (const report::TracedRpc& rpc : tree) {
        RpcsByAction& usual = usual_[{*rpc.server, rpc.rpc_name}];
        for (const auto& [action, count] : SentBy(rpc, tree)) {
          if (actions.varying.contains(action)) continue;
          usual[action] = std::max(usual[action], count);
        }
      }
    }
  }

  bool IsComplete(const report::TraceTree& tree) const {
    return absl::c_all_of(tree, [&](const report::TracedRpc& rpc) {
      // A handler that failed may have made only some of its RPCs.
      if (!rpc.error.empty()) return true;
      RpcsByAction sent = SentBy(rpc, tree);
      const auto is_usual = [&](const auto& action) {
        return sent[action.first] == action.second;
      };
      return HasAllTargets(rpc, tree) &&
             absl::c_all_of(usual_.at({*rpc.server, rpc.rpc_name}), is_usual);
    });
  }

 private:
  // By instance, because fanouts such as linear_x{1} have no target at some,
  // and by the RPC that it handles.
  std::map<std::pair<std::string, std::string>, RpcsByAction> usual_;
};

// Gives names numbers.
class NameNumbers {
 public:
  int Of(const std::string& name, std::vector<std::string>& names) {
    const auto [found, is_new] = numbers_.emplace(name, names.size());
    if (is_new) names.push_back(name);
    return found->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

// Makes the RequestTrees of the requests that are the same RPC.
class TreeMaker {
 public:
  explicit TreeMaker(const HandlerActions& actions) : actions_(actions) {}

  void Add(const report::TraceTree& traced) {
    traced_ = &traced;
    const RpcSample& root = *traced.front().sample;
    tree_ = &requests.trees.emplace_back();
    tree_->client = instances_.Of(*traced.front().client, requests.instances);
    tree_->lateness_ns = std::max<int64_t>(root.lateness_ns(), 0);
    if (root.has_lateness_ns()) {
      requests.reported.set_latency("response_time");
    }
    AddCall(0, -1, 0, root.latency_ns());
    // The tree grows while it is walked.
    origins_.assign(1, 0);
    for (size_t i = 0; i < tree_->calls.size(); ++i) {
      AddChildren(static_cast<int>(i));
    }
    requests.reported.set_call_count(requests.reported.call_count() +
                                     static_cast<int64_t>(origins_.size()));
  }

  TracedRequests requests;

 private:
  void AddCall(int position, int parent, int64_t start_ns, int64_t end_ns) {
    const report::TracedRpc& rpc = (*traced_)[position];
    Call& call = tree_->calls.emplace_back();
    call.rpc = rpcs_.Of(rpc.rpc_name, requests.rpcs);
    call.server = instances_.Of(*rpc.server, requests.instances);
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

  void AddChildren(int parent) {
    const int64_t from_ns = tree_->calls[parent].start_ns;
    const int64_t to_ns = tree_->calls[parent].end_ns;
    const report::TracedRpc& handler = (*traced_)[origins_[parent]];
    std::vector<int> awaited = handler.children;
    if (actions_.answering_early.contains(handler.rpc_name)) {
      std::erase_if(awaited, [&](int child) { return EndOf(child) > to_ns; });
    }
    const int64_t shift_ns = ShiftInto(from_ns, to_ns, awaited);
    std::map<FanoutKey, int> fanouts;
    for (const int child : awaited) {
      const int64_t start_ns =
          std::clamp(StartOf(child) + shift_ns, from_ns, to_ns);
      const int64_t end_ns =
          std::clamp(EndOf(child) + shift_ns, from_ns, to_ns);
      if (start_ns != StartOf(child) || end_ns != EndOf(child)) {
        requests.reported.set_moved_call_count(
            requests.reported.moved_call_count() + 1);
      }
      const auto position = static_cast<int>(tree_->calls.size());
      AddCall(child, parent, start_ns, end_ns);
      tree_->calls[parent].children.push_back(position);
      origins_.push_back(child);
      tree_->calls.back().fanout =
          fanouts.emplace(Origin((*traced_)[child]).fanout, position)
              .first->second;
    }
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
  NameNumbers rpcs_;
  NameNumbers instances_;
  const report::TraceTree* traced_ = nullptr;  // of which *tree_ is made
  RequestTree* tree_ = nullptr;
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
  std::map<std::string, TreeMaker> makers;
  for (const report::TraceTree& tree : traces) {
    const report::TracedRpc& root = tree.front();
    if (root.sample->trace_context().engine_ids_size() != 1) {
      ++test.rootless_count;
      continue;
    }
    TreeMaker& maker = makers.try_emplace(root.rpc_name, actions).first->second;
    ReportedBlame::BlamedRequests& reported = maker.requests.reported;
    if (root.sample->warmup()) {
      reported.set_warmup_count(reported.warmup_count() + 1);
    } else if (!root.error.empty()) {
      reported.set_failed_count(reported.failed_count() + 1);
    } else if (IsDamaged(tree)) {
      reported.set_damaged_count(reported.damaged_count() + 1);
    } else if (!completeness.IsComplete(tree)) {
      reported.set_incomplete_count(reported.incomplete_count() + 1);
    } else {
      maker.Add(tree);
    }
  }
  for (auto& [rpc, maker] : makers) {
    TracedRequests& requests = maker.requests;
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
