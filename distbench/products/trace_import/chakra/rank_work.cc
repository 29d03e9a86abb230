// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/rank_work.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/printable_line.h"

namespace distbench::trace_import {
namespace {

// Times between all pairs are held while a rank is read: 64 MiB.
constexpr int64_t kMaxCommunications = 4000;

absl::Status InvalidNode(const ChakraNode& node, absl::string_view problem) {
  const std::string name =
      node.name.empty()
          ? ""
          : absl::StrCat(" (", base::PrintableLine(node.name), ")");
  return absl::InvalidArgumentError(
      absl::StrCat("node ", node.id, name, " ", problem));
}

// ---- The order of nodes -----------------------------------------------------

using Positions = std::vector<size_t>;

// For each node, those that must have ended before it.
absl::StatusOr<std::vector<Positions>> Predecessors(const ChakraTrace& trace,
                                                    RankWork& work) {
  absl::flat_hash_map<uint64_t, size_t> positions;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!positions.try_emplace(trace.nodes[i].id, i).second) {
      return InvalidNode(trace.nodes[i],
                         "is there twice; ids must differ: convert the trace "
                         "again, one rank to a file");
    }
  }
  std::vector<Positions> predecessors(trace.nodes.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    for (const uint64_t dep : trace.nodes[i].data_deps) {
      const auto found = positions.find(dep);
      if (found != positions.end()) {
        predecessors[i].push_back(found->second);
      } else {
        ++work.notes
              ["dependencies on nodes that are not in the file were left "
               "out"];
      }
    }
  }
  return predecessors;
}

// Follows nodes that wait for one another until one comes again.
absl::Status CycleError(const ChakraTrace& trace,
                        const std::vector<Positions>& predecessors,
                        const std::vector<bool>& is_done) {
  constexpr size_t kShown = 8;
  size_t node = absl::c_find(is_done, false) - is_done.begin();
  std::vector<bool> is_visited(trace.nodes.size());
  while (!is_visited[node]) {
    is_visited[node] = true;
    node = *absl::c_find_if(predecessors[node],
                            [&](size_t before) { return !is_done[before]; });
  }
  std::vector<uint64_t> cycle;
  for (size_t next = node; cycle.empty() || next != node;) {
    cycle.push_back(trace.nodes[next].id);
    next = *absl::c_find_if(predecessors[next],
                            [&](size_t before) { return !is_done[before]; });
  }
  const bool is_long = cycle.size() > kShown;
  if (is_long) cycle.resize(kShown);
  return InvalidNode(
      trace.nodes[node],
      absl::StrCat("waits for itself: its dependencies are a cycle, of nodes ",
                   absl::StrJoin(cycle, ", "), is_long ? ", ..." : "",
                   "; convert the trace again"));
}

// All nodes after those that they wait for, and else by their ids, as
// simulators of such traces take them.
absl::StatusOr<Positions> OrderOf(const ChakraTrace& trace,
                                  const std::vector<Positions>& predecessors) {
  std::vector<Positions> successors(trace.nodes.size());
  std::vector<size_t> waits_for(trace.nodes.size());
  for (size_t i = 0; i < predecessors.size(); ++i) {
    waits_for[i] = predecessors[i].size();
    for (const size_t before : predecessors[i]) successors[before].push_back(i);
  }
  using ById = std::pair<uint64_t, size_t>;
  std::priority_queue<ById, std::vector<ById>, std::greater<>> ready;
  const auto add = [&](size_t i) { ready.emplace(trace.nodes[i].id, i); };
  for (size_t i = 0; i < waits_for.size(); ++i) {
    if (waits_for[i] == 0) add(i);
  }
  Positions order;
  std::vector<bool> is_done(trace.nodes.size());
  while (!ready.empty()) {
    const size_t node = ready.top().second;
    ready.pop();
    order.push_back(node);
    is_done[node] = true;
    for (const size_t after : successors[node]) {
      if (--waits_for[after] == 0) add(after);
    }
  }
  if (order.size() < trace.nodes.size()) {
    return CycleError(trace, predecessors, is_done);
  }
  return order;
}

// ---- Communications ---------------------------------------------------------

// By the numbers of CollectiveCommType; empty: distbench has no schedule of it.
constexpr absl::string_view kOperations[] = {"all_reduce",
                                             "",
                                             "all_gather",
                                             "",
                                             "",
                                             "broadcast",
                                             "all_to_all",
                                             "reduce_scatter",
                                             "reduce_scatter",
                                             "barrier"};

bool IsMessage(ChakraType type) {
  return type == ChakraType::kSend || type == ChakraType::kReceive;
}

// Of NCCL's kernels, such as ncclKernel_AllReduce_RING_LL_Sum_float.
std::string AlgorithmIn(absl::string_view name) {
  if (name.find("_RING_") != absl::string_view::npos) return "ring";
  if (name.find("_TREE_") != absl::string_view::npos) return "tree";
  return "";
}

absl::Status SetCollective(const ChakraNode& node, Communication& collective) {
  if (!node.comm_type || *node.comm_type < 0 ||
      *node.comm_type >= static_cast<int64_t>(std::size(kOperations))) {
    return InvalidNode(
        node,
        absl::StrCat("is a collective of type ",
                     node.comm_type ? absl::StrCat(*node.comm_type) : "unknown",
                     "; comm_type must be 0 to ", std::size(kOperations) - 1,
                     ", as Chakra's schema has it since version 0.0.4"));
  }
  collective.operation = std::string(kOperations[*node.comm_type]);
  if (collective.operation.empty()) {
    return InvalidNode(
        node, absl::StrCat("is a collective of comm_type ", *node.comm_type,
                           " (1 is reduce, 3 gather, 4 scatter), for which "
                           "there is no schedule; take it out of the trace"));
  }
  if (collective.operation == "barrier") {
    collective.operation = "all_reduce";
    collective.bytes = 1;
  }
  collective.group = node.group;
  collective.algorithm = AlgorithmIn(node.name);
  return absl::OkStatus();
}

absl::Status SetMessage(const ChakraNode& node, Communication& message) {
  const bool is_send = node.type == ChakraType::kSend;
  const auto& peer = is_send ? node.comm_dst : node.comm_src;
  if (!peer || *peer < 0) {
    return InvalidNode(
        node, absl::StrCat("has no ", is_send ? "comm_dst" : "comm_src",
                           "; the rank at its other side must "
                           "be known"));
  }
  message.peer = *peer;
  message.tag = node.comm_tag;
  return absl::OkStatus();
}

// Operations that the host calls are computations of it: the accelerator does
// what they ask for.
bool IsCommunication(const ChakraNode& node) {
  return node.type >= ChakraType::kSend && !node.is_on_host;
}

absl::StatusOr<Communication> CommunicationOf(const ChakraNode& node) {
  Communication result = {.node = node.id, .type = node.type};
  const bool is_message = IsMessage(node.type);
  absl::Status status =
      is_message ? SetMessage(node, result) : SetCollective(node, result);
  if (!status.ok()) return status;
  if (result.bytes > 0) return result;
  result.bytes = node.comm_size.value_or(0);
  // Of a message, the sender's size counts.
  if (result.bytes <= 0 && node.type != ChakraType::kReceive) {
    return InvalidNode(
        node, absl::StrCat("has ", result.bytes,
                           " bytes; comm_size must be above 0: take it out of "
                           "the trace, or correct it"));
  }
  return result;
}

// ---- Times between communications -------------------------------------------

class Contraction {
 public:
  Contraction(const ChakraTrace& trace, RankWork& work)
      : trace_(trace), work_(work), reach_(trace.nodes.size()) {}

  absl::Status Add(size_t position, const Positions& predecessors) {
    const ChakraNode& node = trace_.nodes[position];
    WaitsFor waits;
    for (const size_t before : predecessors) Merge(reach_[before], waits);
    if (const auto lane = LaneOf(node)) {
      const auto [last, is_first] = lanes_.try_emplace(*lane, position);
      if (!is_first)
        Merge(reach_[std::exchange(last->second, position)], waits);
    }
    if (waits.empty()) waits[kBegin] = 0;
    Prune(waits);
    if (IsCommunication(node)) return AddCommunication(position, waits);
    Shift(TimeOf(node), waits);
    reach_[position] = std::move(waits);
    return absl::OkStatus();
  }

  // The end of the work waits for all that it has.
  void Finish() {
    WaitsFor& end = work_.end;
    for (const WaitsFor& reach : reach_) Merge(reach, end);
    Prune(end);
    for (const auto& [from, time_us] : end) {
      work_.critical_path_us =
          std::max(work_.critical_path_us, Longest(kBegin, from) + time_us);
    }
  }

 private:
  static constexpr int64_t kNever = -1;

  // Whether on the host, which lane, and of which group.
  using Lane = std::tuple<bool, int64_t, std::string>;

  // What does one thing at a time; none: nothing.
  static std::optional<Lane> LaneOf(const ChakraNode& node) {
    if (node.type == ChakraType::kCollective && !node.is_on_host) {
      return Lane(false, 0, absl::StrCat("group ", node.group));
    }
    if (node.duration_us == 0 || IsCommunication(node)) return std::nullopt;
    return Lane(node.is_on_host, node.is_on_host ? node.thread : node.stream,
                "");
  }

  int64_t TimeOf(const ChakraNode& node) {
    const bool has_time = node.duration_us > 0;
    if (!has_time && node.has_operations) {
      ++work_.notes
            ["computations that have num_ops but no duration take no "
             "time"];
    }
    if (!has_time &&
        (node.type == ChakraType::kLoad || node.type == ChakraType::kStore)) {
      ++work_.notes["transfers of memory without a duration take no time"];
    }
    if (node.type >= ChakraType::kSend) {
      ++work_.notes
            ["communications that the host calls (is_cpu_op) are "
             "computations of it"];
    }
    work_.computations += has_time;
    work_.computed_us += node.duration_us;
    return node.duration_us;
  }

  absl::Status AddCommunication(size_t position, const WaitsFor& waits) {
    const ChakraNode& node = trace_.nodes[position];
    absl::StatusOr<Communication> added = CommunicationOf(node);
    if (!added.ok()) return added.status();
    const auto index = static_cast<int>(work_.communications.size());
    if (index >= kMaxCommunications) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has more than ", kMaxCommunications,
          " communications; cut the trace at one step of the job"));
    }
    if (node.has_partial_dimensions) {
      ++work_.notes
            ["collectives of some dimensions only (involved_dim) are of "
             "all ranks: files do not say what the dimensions are"];
    }
    added->waits_for = waits;
    work_.communications.push_back(*std::move(added));
    SetLongest(waits);
    reach_[position] = {{index, 0}};
    return absl::OkStatus();
  }

  static void Shift(int64_t time_us, WaitsFor& waits) {
    for (auto& [from, waited_us] : waits) waited_us += time_us;
  }

  static void Merge(const WaitsFor& from, WaitsFor& into) {
    for (const auto& [communication, time_us] : from) {
      int64_t& longest = into.try_emplace(communication, time_us).first->second;
      longest = std::max(longest, time_us);
    }
  }

  // Drops what is always over when something else is: that of an earlier
  // communication for which a later one has waited as long or longer.
  void Prune(WaitsFor& waits) const {
    for (auto each = waits.begin(); each != waits.end();) {
      const bool is_covered =
          std::any_of(std::next(each), waits.end(), [&](const auto& later) {
            const int64_t between = Longest(each->first, later.first);
            return between != kNever && between + later.second >= each->second;
          });
      each = is_covered ? waits.erase(each) : std::next(each);
    }
  }

  // From the end of one communication to the begin of a later one, if those in
  // between took no time; kNever if it does not wait for it.
  int64_t Longest(int from, int to) const {
    if (from == to) return 0;
    return to == kBegin ? kNever : longest_[to][from + 1];
  }

  // Of the communication that is added.
  void SetLongest(const WaitsFor& waits) {
    std::vector<int64_t> times(longest_.size() + 1, kNever);
    for (const auto& [through, time_us] : waits) {
      for (int from = kBegin; from <= through; ++from) {
        const int64_t before = Longest(from, through);
        if (before == kNever) continue;
        times[from + 1] = std::max(times[from + 1], before + time_us);
      }
    }
    longest_.push_back(std::move(times));
  }

  const ChakraTrace& trace_;
  RankWork& work_;
  std::vector<WaitsFor> reach_;   // by node: what its end waits for
  std::map<Lane, size_t> lanes_;  // the last node of each
  std::vector<std::vector<int64_t>> longest_;  // [to][from + 1]
};

}  // namespace

absl::StatusOr<RankWork> WorkOf(const ChakraTrace& trace) {
  RankWork work;
  work.version = trace.version;
  work.nodes = static_cast<int64_t>(trace.nodes.size());
  const auto predecessors = Predecessors(trace, work);
  if (!predecessors.ok()) return predecessors.status();
  const auto order = OrderOf(trace, *predecessors);
  if (!order.ok()) return order.status();
  Contraction contraction(trace, work);
  for (const size_t position : *order) {
    absl::Status status = contraction.Add(position, (*predecessors)[position]);
    if (!status.ok()) return status;
  }
  contraction.Finish();
  if (work.critical_path_us > kMaxDurationUs) {
    return absl::InvalidArgumentError(
        "computes for more than a day; cut the trace at one step of the job");
  }
  return work;
}

}  // namespace distbench::trace_import
