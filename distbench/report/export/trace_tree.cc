#include "distbench/report/export/trace_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

using HopPath = std::vector<int64_t>;

// All numbers of the leading hops of a trace. A context whose fields differ in
// length is damaged; missing numbers count as 0.
HopPath PathOf(const TraceContext& context) {
  HopPath path;
  const auto at = [](const auto& field, int hop) -> int64_t {
    return hop < field.size() ? field[hop] : 0;
  };
  for (int hop = 0; hop < context.engine_ids_size(); ++hop) {
    path.insert(path.end(),
                {context.engine_ids(hop), at(context.actionlist_indices(), hop),
                 at(context.actionlist_invocations(), hop),
                 at(context.action_indices(), hop),
                 at(context.action_iterations(), hop),
                 at(context.fanout_index(), hop)});
  }
  return path;
}

constexpr int kNumbersPerHop = 6;

// The path of the RPC that caused this one.
HopPath ParentOf(HopPath path) {
  path.resize(path.size() - kNumbersPerHop);
  return path;
}

using RpcsByPath = std::map<HopPath, TracedRpc>;

void AddSamples(const results::RpcLogView& view,
                const google::protobuf::RepeatedPtrField<RpcSample>& samples,
                bool failed, RpcsByPath& rpcs) {
  for (const RpcSample& sample : samples) {
    if (sample.trace_context().engine_ids_size() == 0) continue;
    TracedRpc rpc;
    rpc.sample = &sample;
    rpc.client = &view.client;
    rpc.server = &view.server;
    rpc.rpc_name = view.rpc_name;
    if (failed)
      rpc.error = results::ErrorMessage(view.errors, sample.error_index());
    rpcs.emplace(PathOf(sample.trace_context()), std::move(rpc));
  }
}

// Gives every RPC the first free lane below its parent's. Works depth first, to
// keep related RPCs together.
class LaneAllocator {
 public:
  explicit LaneAllocator(TraceTree& tree) : tree_(tree) {}

  void Allocate(int position) {
    TracedRpc& rpc = tree_[position];
    rpc.lane = rpc.parent < 0 ? 0 : tree_[rpc.parent].lane + 1;
    while (rpc.lane < static_cast<int>(busy_.size()) &&
           Overlaps(busy_[rpc.lane], rpc)) {
      ++rpc.lane;
    }
    if (rpc.lane >= static_cast<int>(busy_.size())) {
      busy_.resize(rpc.lane + 1);
    }
    busy_[rpc.lane].push_back(position);
    for (const int child : rpc.children) Allocate(child);
  }

 private:
  bool Overlaps(const std::vector<int>& others, const TracedRpc& rpc) const {
    return std::any_of(others.begin(), others.end(), [&](int other) {
      return tree_[other].start_ns() < rpc.end_ns() &&
             rpc.start_ns() < tree_[other].end_ns();
    });
  }

  TraceTree& tree_;
  std::vector<std::vector<int>> busy_;  // by lane
};

void Arrange(TraceTree& tree) {
  for (TracedRpc& rpc : tree) {
    std::sort(rpc.children.begin(), rpc.children.end(), [&](int a, int b) {
      return tree[a].start_ns() < tree[b].start_ns();
    });
  }
  LaneAllocator(tree).Allocate(0);
}

// The location of an RPC: its tree, and the position in it.
struct Place {
  size_t tree;
  int position;
};

Place Insert(TracedRpc rpc, const Place* parent,
             std::vector<TraceTree>& trees) {
  if (parent == nullptr) trees.emplace_back();
  const size_t tree_index = parent == nullptr ? trees.size() - 1 : parent->tree;
  TraceTree& tree = trees[tree_index];
  const int position = static_cast<int>(tree.size());
  if (parent != nullptr) {
    rpc.parent = parent->position;
    tree[parent->position].children.push_back(position);
  }
  tree.push_back(std::move(rpc));
  return {tree_index, position};
}

}  // namespace

std::vector<TraceTree> CollectTraces(const TestResult& result) {
  RpcsByPath rpcs;
  results::ForEachRpcLog(result, [&](const results::RpcLogView& view) {
    AddSamples(view, view.log.successful_rpc_samples(), false, rpcs);
    AddSamples(view, view.log.failed_rpc_samples(), true, rpcs);
  });
  // In order of paths, a parent comes before its children.
  std::vector<TraceTree> trees;
  std::map<HopPath, Place> places;
  for (auto& [path, rpc] : rpcs) {
    const auto parent = places.find(ParentOf(path));
    places[path] =
        Insert(std::move(rpc),
               parent == places.end() ? nullptr : &parent->second, trees);
  }
  for (TraceTree& tree : trees) Arrange(tree);
  std::stable_sort(trees.begin(), trees.end(),
                   [](const TraceTree& a, const TraceTree& b) {
                     return a.front().start_ns() < b.front().start_ns();
                   });
  return trees;
}

absl::Status NoTracesError() {
  return absl::InvalidArgumentError(
      "no RPC of the result was traced: give an RPC of the test a "
      "tracing_interval, such as 1000 for every 1000th iteration");
}

}  // namespace distbench::report
