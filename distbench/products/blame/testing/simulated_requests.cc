// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/testing/simulated_requests.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/results/legacy_results.h"

namespace distbench::blame {
namespace {

constexpr int kMiddles = 2;

// Numbers of the instances: client, root, middle instances, leaves.
constexpr int kRoot = 1;
constexpr int kFirstMiddle = 2;
constexpr int kFirstLeaf = kFirstMiddle + kMiddles;

constexpr int64_t kPauseNs = 3'000'000;

// The parts of an RPC's time, without what its handler waits for.
struct Parts {
  int64_t network_ns;
  int64_t queue_ns;
  int64_t handler_ns;
};

class Simulator {
 public:
  explicit Simulator(const SimulatedSystem& system)
      : system_(system), random_(system.seed), paused_(system.leaves) {}

  RequestTree Request(int number) {
    RequestTree tree;
    is_large_ = system_.large_share > 0 && Uniform() < system_.large_share;
    for (int& requests : paused_) {
      requests = std::max(requests - 1, 0);
      if (system_.pause_share > 0 && Uniform() < system_.pause_share) {
        requests = system_.pause_requests;
      }
    }
    AddCall(kQuery, kRoot, 0, -1, tree);
    Finish(0, number, tree);
    return tree;
  }

 private:
  // Adds a call that starts at this time.
  int AddCall(int rpc, int server, int64_t start_ns, int parent,
              RequestTree& tree) {
    const int position = static_cast<int>(tree.calls.size());
    Call& call = tree.calls.emplace_back();
    call.rpc = rpc;
    call.server = server;
    call.parent = parent;
    call.start_ns = start_ns;
    if (parent >= 0) {
      std::vector<int>& siblings = tree.calls[parent].children;
      siblings.push_back(position);
      const bool is_alone =
          rpc == kLookup && system_.asking == Asking::kAllInTurn;
      tree.calls.back().fanout = is_alone ? position : siblings.front();
    }
    return position;
  }

  // Lets a call happen with all that it waits for, and returns its end.
  int64_t Finish(int position, int number, RequestTree& tree) {
    const int rpc = tree.calls[position].rpc;
    const Parts parts = DrawParts(rpc, tree.calls[position].server);
    tree.calls[position].waits = {.network_ns = parts.network_ns,
                                  .server_queue_ns = parts.queue_ns};
    const int64_t before_ns =
        parts.network_ns / 2 + parts.queue_ns + parts.handler_ns / 2;
    const int64_t after_ns =
        parts.network_ns + parts.queue_ns + parts.handler_ns - before_ns;
    const int64_t children_start_ns = tree.calls[position].start_ns + before_ns;
    int64_t children_end_ns = children_start_ns;
    const bool is_in_turn = system_.asking == Asking::kAllInTurn;
    std::vector<int> children;
    for (const int server : TargetsOf(rpc, number)) {
      const int child = AddCall(
          rpc + 1, server, is_in_turn ? children_end_ns : children_start_ns,
          position, tree);
      if (is_in_turn) children_end_ns = Finish(child, number, tree);
      children.push_back(child);
    }
    for (const int child : children) {
      if (is_in_turn) break;
      children_end_ns = std::max(children_end_ns, Finish(child, number, tree));
    }
    return tree.calls[position].end_ns = children_end_ns + after_ns;
  }

  std::vector<int> TargetsOf(int rpc, int number) {
    if (rpc == kQuery) return {kFirstMiddle + number % kMiddles};
    if (rpc == kLookup) return {};
    std::vector<int> leaves(system_.leaves);
    std::iota(leaves.begin(), leaves.end(), kFirstLeaf);
    if (system_.asking == Asking::kAllAtOnce ||
        system_.asking == Asking::kAllInTurn) {
      return leaves;
    }
    std::shuffle(leaves.begin(), leaves.end(), random_);
    if (system_.asking == Asking::kThreeOrFirst && is_large_) {
      std::iter_swap(leaves.begin(),
                     std::find(leaves.begin(), leaves.end(), kFirstLeaf));
    }
    leaves.resize(system_.asking == Asking::kOne ? 1 : 3);
    return leaves;
  }

  Parts DrawParts(int rpc, int server) {
    Parts parts = {Draw(), Draw(), Draw()};
    if (rpc == kLookup && paused_[server - kFirstLeaf] > 0) {
      parts.handler_ns += kPauseNs;
    }
    const Trouble& trouble = system_.trouble;
    const int first = rpc == kQuery  ? kRoot
                      : rpc == kRank ? kFirstMiddle
                                     : kFirstLeaf;
    const bool is_meant =
        trouble.rpc == rpc &&
        (trouble.instance < 0 || trouble.instance == server - first);
    if (!is_meant || Uniform() >= trouble.probability) return parts;
    (trouble.part == BlamePart::kNetwork       ? parts.network_ns
     : trouble.part == BlamePart::kServerQueue ? parts.queue_ns
                                               : parts.handler_ns) +=
        trouble.extra_ns;
    return parts;
  }

  int64_t Draw() {
    const double mean_ns = static_cast<double>(system_.mean_ns) *
                           (is_large_ ? system_.largeness : 1);
    return static_cast<int64_t>(
        system_.is_random
            ? std::exponential_distribution<>(1 / mean_ns)(random_)
            : mean_ns);
  }

  double Uniform() { return std::uniform_real_distribution<>()(random_); }

  const SimulatedSystem& system_;
  std::mt19937_64 random_;
  bool is_large_ = false;
  std::vector<int> paused_;  // requests, by leaf
};

// The hops of a call's trace, outermost first.
void FillContext(const TracedRequests& requests, const RequestTree& tree,
                 int position, int64_t number, TraceContext& context) {
  const Call& call = tree.calls[position];
  const bool is_root = call.parent < 0;
  if (!is_root) FillContext(requests, tree, call.parent, number, context);
  context.add_engine_ids(is_root ? tree.client
                                 : tree.calls[call.parent].server);
  context.add_actionlist_indices(call.rpc);
  context.add_actionlist_invocations(0);
  context.add_action_indices(0);
  context.add_action_iterations(is_root ? number : 0);
  context.add_fanout_index(is_root ? 0 : position - call.fanout);
}

void FillSample(const Call& call, int64_t skew_ns, RpcSample& sample) {
  constexpr int64_t kStartNs = 1'000'000'000'000'000'000;
  sample.set_start_timestamp_ns(kStartNs + call.start_ns + skew_ns);
  sample.set_latency_ns(call.duration_ns());
  if (!call.waits.has_value()) return;
  sample.set_server_queue_ns(call.waits->server_queue_ns);
  sample.set_server_handler_ns(call.duration_ns() - call.waits->network_ns -
                               call.waits->server_queue_ns);
}

}  // namespace

RequestTree TreeOf(std::vector<Call> calls) {
  RequestTree tree = {.calls = std::move(calls)};
  for (size_t i = 1; i < tree.calls.size(); ++i) {
    tree.calls[tree.calls[i].parent].children.push_back(static_cast<int>(i));
  }
  return tree;
}

TracedRequests Simulate(const SimulatedSystem& system) {
  TracedRequests requests;
  requests.rpcs = {"query", "rank", "lookup"};
  requests.instances = {"client/0", "root/0", "middle/0", "middle/1"};
  for (int leaf = 0; leaf < system.leaves; ++leaf) {
    requests.instances.push_back(absl::StrCat("leaf/", leaf));
  }
  Simulator simulator(system);
  for (int i = 0; i < system.requests; ++i) {
    requests.trees.push_back(simulator.Request(i));
  }
  return requests;
}

TestResult ResultOf(const TracedRequests& requests, int64_t skew_ns) {
  TestResult result;
  for (const std::string& rpc : requests.rpcs) {
    result.mutable_traffic_config()->add_rpc_descriptions()->set_name(rpc);
  }
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  for (size_t i = 0; i < requests.trees.size(); ++i) {
    const RequestTree& tree = requests.trees[i];
    for (size_t j = 0; j < tree.calls.size(); ++j) {
      const Call& call = tree.calls[j];
      const int client =
          call.parent < 0 ? tree.client : tree.calls[call.parent].server;
      auto& peers = *logs[requests.instances[client]].mutable_peer_logs();
      auto& rpcs = *peers[requests.instances[call.server]].mutable_rpc_logs();
      RpcSample& sample = *rpcs[call.rpc].add_successful_rpc_samples();
      FillSample(call, call.rpc == kLookup ? skew_ns : 0, sample);
      FillContext(requests, tree, static_cast<int>(j), static_cast<int64_t>(i),
                  *sample.mutable_trace_context());
    }
  }
  results::AddMissingStatistics(result);
  return result;
}

}  // namespace distbench::blame
