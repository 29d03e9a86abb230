// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/patterns/collective_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::test_builder {
namespace {

// Of one operation; so many actions make a config of a few megabytes.
constexpr int64_t kMaxActions = 20'000;

constexpr char kService[] = "rank";

int64_t Divided(int64_t size, int64_t parts) {
  return (size + parts - 1) / parts;
}

// Writes the actions of one operation, and keeps what is received by an RPC in
// its order.
class Schedule {
 public:
  Schedule(const Collective& collective, DistributedSystemDescription& test)
      : collective_(collective), test_(test) {
    list_.set_name(collective.name);
  }

  // Declares an RPC with messages of so many bytes, in chunks, to the peer that
  // a filter of the axis selects, such as "ring" and "{1}". Returns its name.
  std::string Rpc(absl::string_view what, absl::string_view filter,
                  absl::string_view argument, int64_t bytes) {
    const std::string name = absl::StrCat(collective_.name, "_", what);
    PayloadSpec& payload = *test_.add_payload_descriptions();
    payload.set_name(name);
    payload.set_size(Divided(bytes, collective_.chunks));
    AddRpc(name, absl::StrCat(filter, "_", collective_.axis, argument), name);
    return name;
  }

  // Declares an RPC with a payload that there is.
  void AddRpc(const std::string& name, const std::string& filter,
              const std::string& payload) {
    RpcSpec& rpc = *test_.add_rpc_descriptions();
    rpc.set_name(name);
    rpc.add_client(kService);
    rpc.set_server(kService);
    rpc.set_request_payload_name(payload);
    rpc.set_fanout_filter(filter);
    test_.add_action_lists()->set_name(name);
  }

  // Each adds an action that begins after the others. Returns its name.
  std::string Send(const std::string& rpc,
                   const std::vector<std::string>& after) {
    Action& action = Add(absl::StrCat("send_", rpc, "_", sent_[rpc]++), after);
    action.set_rpc_name(rpc);
    return action.name();
  }
  std::string Receive(const std::string& rpc, const std::string& after = "") {
    std::string& previous = last_receive_[rpc];
    Action& action = Add(absl::StrCat("receive_", rpc, "_", received_[rpc]++),
                         {previous, previous == after ? "" : after});
    action.set_receive_rpc_name(rpc);
    previous = action.name();
    return previous;
  }
  std::string Compute(absl::string_view what,
                      const std::vector<std::string>& after) {
    int& count = computed_[std::string(what)];
    Action& action = Add(absl::StrCat(what, "_", count++), after);
    if (!collective_.compute.empty()) {
      action.set_delay_distribution_name(collective_.compute);
    }
    return action.name();
  }

  // Adds the list and the action that runs it.
  void Finish(absl::string_view after) {
    *test_.add_action_lists() = std::move(list_);
    Action& action = *test_.add_actions();
    action.set_name(collective_.name);
    if (!after.empty()) action.add_dependencies(std::string(after));
    action.set_action_list_name(collective_.name);
    action.set_record_iterations(true);
    CollectiveSpec& spec = *action.mutable_collective();
    spec.set_operation(collective_.operation);
    spec.set_size(collective_.size);
    spec.set_algorithm(collective_.algorithm);
    spec.set_axis(collective_.axis);
  }

 private:
  Action& Add(std::string name, const std::vector<std::string>& after) {
    Action& action = *test_.add_actions();
    action.set_name(std::move(name));
    for (const std::string& dependency : after) {
      if (!dependency.empty()) action.add_dependencies(dependency);
    }
    list_.add_action_names(action.name());
    return action;
  }

  const Collective& collective_;
  DistributedSystemDescription& test_;
  ActionList list_;
  std::map<std::string, std::string> last_receive_;  // by RPC
  std::map<std::string, int> sent_;
  std::map<std::string, int> received_;
  std::map<std::string, int> computed_;
};

// For each chunk, the action after which its next step may begin.
using Ready = std::vector<std::string>;

// Steps in which each rank sends, and then has to receive before the next one;
// and only after those before, for it may pass on all that it has.
void Steps(const std::string& rpc, int64_t count, Schedule& schedule,
           Ready& ready) {
  for (int64_t step = 0; step < count; ++step) {
    for (const std::string& after : ready) schedule.Send(rpc, {after});
    for (std::string& after : ready) after = schedule.Receive(rpc, after);
  }
}

// ---- Rings ------------------------------------------------------------------

// In step k, rank r sends block r-k to the next one, which adds its own: after
// the last step, rank r has the sum of block r+1.
void RingReduce(const Collective& c, Schedule& schedule, Ready& ready) {
  Steps(schedule.Rpc("reduce", "ring", "", Divided(c.size, c.ranks)),
        c.ranks - 1, schedule, ready);
}

// In step k, rank r passes on the block that it got in the step before.
void RingGather(const Collective& c, Schedule& schedule, Ready& ready) {
  Steps(schedule.Rpc("gather", "ring", "", Divided(c.size, c.ranks)),
        c.ranks - 1, schedule, ready);
}

// ---- Halving and doubling ---------------------------------------------------

// Partners at half the distance of the step before exchange half of what each
// still has to reduce: at the end, rank r has the sum of block r.
void Halve(const Collective& c, Schedule& schedule, Ready& ready) {
  for (int64_t distance = c.ranks / 2; distance > 0; distance /= 2) {
    Steps(schedule.Rpc(absl::StrCat("halve_", distance), "xor",
                       absl::StrCat("{", distance, "}"),
                       Divided(c.size, c.ranks) * distance),
          1, schedule, ready);
  }
}

// The reverse: partners exchange all that they have gathered so far.
void Double(const Collective& c, Schedule& schedule, Ready& ready) {
  for (int64_t distance = 1; distance < c.ranks; distance *= 2) {
    Steps(schedule.Rpc(absl::StrCat("double_", distance), "xor",
                       absl::StrCat("{", distance, "}"),
                       Divided(c.size, c.ranks) * distance),
          1, schedule, ready);
  }
}

// ---- Trees ------------------------------------------------------------------

// Each chunk goes from the leaves of a binary tree to its root, rank 0, and is
// added up on its way. A rank has up to two children, and is the first or the
// second one of its parent: an RPC for each, so that they can be told apart.
// Returns for each chunk what a rank has received.
std::vector<Ready> TreeReduce(const Collective& c, Schedule& schedule) {
  const std::string first = schedule.Rpc("up_1", "parent", "{1}", c.size);
  const std::string second = schedule.Rpc("up_2", "parent", "{2}", c.size);
  std::vector<Ready> received(c.chunks);
  for (Ready& chunk : received) {
    chunk = {schedule.Receive(first), schedule.Receive(second)};
    schedule.Send(first, chunk);
    schedule.Send(second, chunk);
  }
  return received;
}

// Each chunk goes from the root to the leaves, as soon as the root has `ready`.
void TreeBroadcast(const Collective& c, const std::vector<Ready>& ready,
                   Schedule& schedule) {
  const std::string first = schedule.Rpc("down_1", "child", "{1}", c.size);
  const std::string second = schedule.Rpc("down_2", "child", "{2}", c.size);
  for (const Ready& chunk : ready) {
    Ready after = chunk;
    after.push_back(schedule.Receive(first));
    after.push_back(schedule.Receive(second));
    schedule.Send(first, after);
    schedule.Send(second, after);
  }
}

// Chunks go from rank 0 to the last one, each to the next.
void ChainBroadcast(const Collective& c, Schedule& schedule) {
  const std::string rpc = schedule.Rpc("pass_on", "linear", "{1}", c.size);
  for (int64_t chunk = 0; chunk < c.chunks; ++chunk) {
    schedule.Send(rpc, {schedule.Receive(rpc)});
  }
}

// ---- Exchanges --------------------------------------------------------------

// What rank n gets from each other one.
PayloadSpec SharesOf(const Collective& c, const std::string& name) {
  PayloadSpec payload;
  payload.set_name(name);
  double sum = 0;
  for (int64_t rank = 1; rank <= c.ranks; ++rank) {
    sum += std::pow(static_cast<double>(rank), -c.skew);
  }
  for (int64_t rank = 1; rank <= c.ranks; ++rank) {
    const double share = std::pow(static_cast<double>(rank), -c.skew) / sum;
    payload.add_sizes_by_instance(
        Divided(std::llround(static_cast<double>(c.size) * share), c.chunks));
  }
  return payload;
}

// In step k, each rank sends to the one at distance k: one step after the
// other, or all at once.
void Exchange(const Collective& c, DistributedSystemDescription& test,
              Schedule& schedule) {
  const std::string payload = absl::StrCat(c.name, "_share");
  if (c.skew > 0) {
    *test.add_payload_descriptions() = SharesOf(c, payload);
  } else {
    PayloadSpec& equal = *test.add_payload_descriptions();
    equal.set_name(payload);
    equal.set_size(Divided(Divided(c.size, c.ranks), c.chunks));
  }
  Ready ready(c.chunks);
  for (int64_t distance = 1; distance < c.ranks; ++distance) {
    const std::string rpc = absl::StrCat(c.name, "_", distance);
    schedule.AddRpc(rpc, absl::StrCat("ring_", c.axis, "{", distance, "}"),
                    payload);
    if (c.algorithm == "direct") ready.assign(c.chunks, "");
    Steps(rpc, 1, schedule, ready);
  }
}

// ---- Pipelines --------------------------------------------------------------

// All micro-batches go forward through all stages, and then backward. A stage
// computes one at a time.
void Pipeline(const Collective& c, Schedule& schedule) {
  const std::string forward = schedule.Rpc("forward", "linear", "{1}", c.size);
  const std::string backward =
      schedule.Rpc("backward", "linear", "{-1}", c.size);
  std::string computed;
  for (const auto& [rpc, what] : {std::pair{forward, "compute_forward"},
                                  std::pair{backward, "compute_backward"}}) {
    for (int64_t batch = 0; batch < c.chunks; ++batch) {
      computed = schedule.Compute(what, {schedule.Receive(rpc), computed});
      schedule.Send(rpc, {computed});
    }
  }
}

// ---- What goes together -----------------------------------------------------

const std::map<std::string, std::vector<std::string>, std::less<>>&
Algorithms() {
  static const auto& algorithms =
      *new std::map<std::string, std::vector<std::string>, std::less<>>{
          {"all_gather", {"ring", "halving_doubling"}},
          {"all_reduce", {"ring", "tree", "halving_doubling"}},
          {"all_to_all", {"pairwise", "direct"}},
          {"broadcast", {"tree", "ring"}},
          {"pipeline", {"gpipe"}},
          {"reduce_scatter", {"ring", "halving_doubling"}},
      };
  return algorithms;
}

// About; more than a few are too many.
int64_t ActionCount(const Collective& c) {
  int64_t steps = 4;  // of a tree
  if (c.algorithm == "ring" && c.operation != "broadcast") {
    steps = 2 * c.ranks;
  } else if (c.algorithm == "halving_doubling") {
    steps = 2 * std::bit_width(static_cast<uint64_t>(c.ranks));
  } else if (c.operation == "all_to_all") {
    steps = c.ranks;
  }
  return 2 * steps * c.chunks;
}

absl::Status Check(const Collective& c) {
  const std::vector<std::string> algorithms = AlgorithmsOf(c.operation);
  if (!absl::c_linear_search(algorithms, c.algorithm)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "algorithm=", c.algorithm, ": ", c.operation,
        " is not done like this; choose ", absl::StrJoin(algorithms, " or ")));
  }
  if (c.algorithm == "halving_doubling" &&
      !std::has_single_bit(static_cast<uint64_t>(c.ranks))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "halving_doubling needs a power of 2, and there are ", c.ranks,
        " ranks; choose ", std::bit_floor(static_cast<uint64_t>(c.ranks)),
        ", or another algorithm"));
  }
  if (c.skew > 0 && c.operation != "all_to_all") {
    return absl::InvalidArgumentError(
        absl::StrCat("skew=", c.skew,
                     " has an effect on all_to_all only, not "
                     "on ",
                     c.operation, "; remove it"));
  }
  if (const int64_t actions = ActionCount(c); actions > kMaxActions) {
    return absl::InvalidArgumentError(absl::StrCat(
        c.ranks, " ranks and ", c.chunks, " chunks make about ", actions,
        " actions of each rank by this algorithm; at most ", kMaxActions,
        " are possible: choose fewer chunks, fewer ranks, or tree or "
        "halving_doubling"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> AlgorithmsOf(absl::string_view operation) {
  const auto found = Algorithms().find(operation);
  return found == Algorithms().end() ? std::vector<std::string>()
                                     : found->second;
}

absl::Status AddCollective(const Collective& c, absl::string_view after,
                           DistributedSystemDescription& test) {
  if (absl::Status status = Check(c); !status.ok()) return status;
  Schedule schedule(c, test);
  Ready ready(c.chunks);
  if (c.operation == "all_to_all") {
    Exchange(c, test, schedule);
  } else if (c.operation == "pipeline") {
    Pipeline(c, schedule);
  } else if (c.operation == "broadcast") {
    if (c.algorithm == "ring") {
      ChainBroadcast(c, schedule);
    } else {
      TreeBroadcast(c, std::vector<Ready>(c.chunks), schedule);
    }
  } else if (c.algorithm == "tree") {
    TreeBroadcast(c, TreeReduce(c, schedule), schedule);
  } else {
    const bool is_ring = c.algorithm == "ring";
    if (c.operation != "all_gather") {
      (is_ring ? RingReduce : Halve)(c, schedule, ready);
    }
    if (c.operation != "reduce_scatter") {
      (is_ring ? RingGather : Double)(c, schedule, ready);
    }
  }
  schedule.Finish(after);
  return absl::OkStatus();
}

}  // namespace distbench::test_builder
