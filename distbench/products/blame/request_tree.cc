#include "distbench/products/blame/request_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
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

RpcsByAction CountRpcs(const report::TraceTree& tree,
                       const report::TracedRpc& parent) {
  RpcsByAction counts;
  for (const int child : parent.children) {
    const Origin origin(tree[child]);
    ++counts[{origin.list, origin.action}];
  }
  return counts;
}

bool HasAllTargets(const report::TraceTree& tree,
                   const report::TracedRpc& parent) {
  struct Targets {
    int64_t count = 0;
    int64_t last = 0;
  };
  std::map<std::array<int64_t, 4>, Targets> fanouts;
  for (const int child : parent.children) {
    const Origin origin(tree[child]);
    Targets& targets = fanouts[origin.fanout];
    ++targets.count;
    targets.last = std::max(targets.last, origin.target);
  }
  return std::all_of(fanouts.begin(), fanouts.end(), [](const auto& fanout) {
    return fanout.second.count - 1 == fanout.second.last;
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
        for (const auto& [action, count] : CountRpcs(tree, rpc)) {
          if (actions.Varies(action.first, action.second)) continue;
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
    if (!HasAllTargets(tree, rpc)) return false;
    RpcsByAction counts = CountRpcs(tree, rpc);
    const RpcsByAction& usual = usual_.at({*rpc.server, rpc.rpc_name});
    return std::all_of(usual.begin(), usual.end(), [&](const auto& action) {
      return counts[action.first] == action.second;
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
    requests_.is_open_loop |= root.sample->has_lateness_ns();
    AddCall(0, -1, 0, root.sample->latency_ns(), tree);
    // The tree grows while it is walked.
    origins_.assign(1, 0);
    for (size_t i = 0; i < tree.calls.size(); ++i) {
      AddChildren(static_cast<int>(i), tree);
    }
    requests_.call_count += static_cast<int64_t>(tree.calls.size());
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
      requests_.moved_call_count +=
          start_ns != StartOf(child) || end_ns != EndOf(child);
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
      if (actions_.AnswersEarly(rpc.rpc_name) && EndOf(child) > end_ns) {
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
  const report::TraceTree* traced_ = nullptr;
  std::vector<int> origins_;  // positions of the tree's calls in *traced_
};

}  // namespace

TracedTest CollectRequests(const TestResult& result) {
  TracedTest test;
  std::map<std::string, results::RpcCounts> counts;
  results::RpcCounts all;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    const results::RpcCounts own = results::CountsOf(view.log.statistics());
    counts[view.rpc_name].Add(own);
    all.Add(own);
  });
  test.dropped_sample_count = all.dropped_sample_count;
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
    if (root.sample->warmup()) {
      ++requests.warmup_count;
    } else if (!root.error.empty()) {
      ++requests.failed_count;
    } else if (IsDamaged(tree)) {
      ++requests.damaged_count;
    } else if (!completeness.IsComplete(tree)) {
      ++requests.incomplete_count;
    } else {
      makers.try_emplace(root.rpc_name, actions, requests)
          .first->second.Add(tree);
    }
  }
  for (auto& [rpc, requests] : by_rpc) {
    if (requests.rpcs.empty()) requests.rpcs.push_back(rpc);
    requests.succeeded_count = counts[rpc].succeeded_count;
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
  // A list that a varying action starts varies as a whole.
  std::set<std::string> varying_lists;
  for (bool is_done = false; !is_done;) {
    const size_t size_before = varying_lists.size();
    for (int i = 0; i < config.action_lists_size(); ++i) {
      const ActionList& list = config.action_lists(i);
      for (int j = 0; j < list.action_names_size(); ++j) {
        const auto found = actions.find(list.action_names(j));
        if (found == actions.end()) continue;
        const Action& action = *found->second;
        if (!varies(action) && varying_lists.count(list.name()) == 0) continue;
        varying_.insert({i, j});
        if (action.has_action_list_name()) {
          varying_lists.insert(action.action_list_name());
        }
      }
    }
    is_done = varying_lists.size() == size_before;
  }
  for (const ActionList& list : config.action_lists()) {
    for (const std::string& name : list.action_names()) {
      const auto found = actions.find(name);
      if (found != actions.end() && found->second->send_response_when_done()) {
        answering_early_.insert(list.name());
      }
    }
  }
}

}  // namespace distbench::blame
