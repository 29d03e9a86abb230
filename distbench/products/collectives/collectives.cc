// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/collectives/collectives.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/products/collectives/slow_messages.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/median.h"

namespace distbench::collectives {
namespace {

// ---- Reading the result -----------------------------------------------------

// A rank's part in an operation.
struct RankLog {
  std::string instance;
  const IterationLog* log = nullptr;
};

// The name of an instance with a star in place of its coordinate on the axis.
std::string GroupOf(const config::ParsedInstanceName& name, int axis) {
  std::string group = name.service;
  for (int i = 0; i < std::ssize(name.coordinates); ++i) {
    absl::StrAppend(&group, "/",
                    i == axis ? "*" : absl::StrCat(name.coordinates[i]));
  }
  return group;
}

// The ranks of an action, in groups by their names; both in the order of the
// instances' coordinates, the last one first, as instances are numbered.
using Groups = std::vector<std::pair<std::string, std::vector<RankLog>>>;

Groups GroupsOf(const TestResult& result, const Action& action) {
  const int axis = AxisOf(action.collective());
  using Place = std::pair<std::string, std::vector<int>>;
  std::map<Place, std::pair<std::string, RankLog>> ranks;  // with the group
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const auto iterations = log.iteration_logs().find(action.name());
    if (iterations == log.iteration_logs().end()) continue;
    const auto name = config::ParseInstanceName(instance);
    if (!name.has_value()) continue;
    Place place = {name->service, name->coordinates};
    absl::c_reverse(place.second);
    ranks[std::move(place)] = {GroupOf(*name, axis),
                               {instance, &iterations->second}};
  }
  Groups groups;
  absl::flat_hash_map<std::string, size_t> positions;
  for (auto& [place, rank] : ranks) {
    auto& [group, log] = rank;
    const auto [position, is_new] = positions.try_emplace(group, groups.size());
    if (is_new) groups.emplace_back(group, std::vector<RankLog>());
    groups[position->second].second.push_back(std::move(log));
  }
  return groups;
}

// How far apart the clocks of a group's ranks may be: all are corrected to the
// sequencer's, as far as the difference is known. None if all are on one host.
std::optional<int64_t> ClockErrorOf(const TestResult& result,
                                    const std::vector<RankLog>& ranks) {
  std::map<std::string, int64_t> errors;  // by node
  for (const RankLog& rank : ranks) {
    const auto& endpoints = result.placement().service_endpoints();
    const auto endpoint = endpoints.find(rank.instance);
    if (endpoint == endpoints.end()) return std::nullopt;
    const auto& offsets = result.run_info().clock_offsets();
    const auto offset = offsets.find(endpoint->second.node_alias());
    errors[endpoint->second.hostname()] =
        offset == offsets.end() ? 0 : offset->second.error_ns();
  }
  if (errors.size() < 2) return std::nullopt;
  std::vector<int64_t> largest;
  for (const auto& [host, error_ns] : errors) largest.push_back(error_ns);
  absl::c_sort(largest, std::greater<>());
  return largest[0] + largest[1];
}

// How many ranks the config puts along the axis; 0 if it has no such service.
int64_t RanksAlong(const TestResult& result, absl::string_view service,
                   int axis) {
  for (const ServiceSpec& spec : result.traffic_config().services()) {
    if (spec.name() != service) continue;
    if (!spec.has_x_size()) return spec.count();
    return axis == 0   ? spec.x_size()
           : axis == 1 ? spec.y_size()
                       : spec.z_size();
  }
  return 0;
}

bool AreAllKnown(const MeasuredCollective& collective) {
  return std::ssize(collective.ranks) == collective.row.ranks();
}

// ---- Iterations of all ranks ------------------------------------------------

// When all ranks did the same.
struct Moments {
  std::vector<int64_t> by_rank_ns;
  int64_t first_ns = 0;
  int64_t last_ns = 0;

  void FindFirstAndLast() {
    const auto [first, last] = absl::c_minmax_element(by_rank_ns);
    first_ns = *first;
    last_ns = *last;
  }
  double WidthNs() const { return static_cast<double>(last_ns - first_ns); }
  double LaterThanFirstNs(size_t rank) const {
    return static_cast<double>(by_rank_ns[rank] - first_ns);
  }
  // Of several that are last together, each is.
  bool IsLast(size_t rank) const { return by_rank_ns[rank] == last_ns; }
};

// What all ranks of a group have listed of one iteration.
struct Iteration {
  Moments begin;
  Moments end;
};

std::vector<Iteration> CommonIterations(const std::vector<RankLog>& ranks) {
  std::map<int64_t, Iteration> by_number;
  for (const RankLog& rank : ranks) {
    const IterationLog& log = *rank.log;
    const int count = std::min({log.numbers_size(), log.durations_ns_size(),
                                log.start_timestamps_ns_size()});
    for (int i = 0; i < count; ++i) {
      Iteration& iteration = by_number[log.numbers(i)];
      const int64_t begin_ns = log.start_timestamps_ns(i);
      iteration.begin.by_rank_ns.push_back(begin_ns);
      iteration.end.by_rank_ns.push_back(begin_ns + log.durations_ns(i));
    }
  }
  std::vector<Iteration> common;
  for (auto& [number, iteration] : by_number) {
    if (iteration.begin.by_rank_ns.size() != ranks.size()) continue;
    iteration.begin.FindFirstAndLast();
    iteration.end.FindFirstAndLast();
    common.push_back(std::move(iteration));
  }
  return common;
}

// Nearest rank: a value that was measured. Values are sorted, and there is one.
double QuantileOf(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(
      std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

void SetSpread(std::vector<double> values, Spread& spread) {
  if (values.empty()) return;
  absl::c_sort(values);
  spread.set_p50_ns(QuantileOf(values, 0.5));
  spread.set_p99_ns(QuantileOf(values, 0.99));
  spread.set_max_ns(values.back());
}

// From the end of each iteration to the begin of the next one, if both are
// listed. By one clock, that of the rank.
std::vector<double> PausesOf(const IterationLog& log) {
  const int count = std::min({log.numbers_size(), log.durations_ns_size(),
                              log.start_timestamps_ns_size()});
  std::vector<double> pauses;
  for (int i = 1; i < count; ++i) {
    if (log.numbers(i) != log.numbers(i - 1) + 1) continue;
    pauses.push_back(static_cast<double>(log.start_timestamps_ns(i) -
                                         log.start_timestamps_ns(i - 1) -
                                         log.durations_ns(i - 1)));
  }
  return pauses;
}

CollectiveRankTable::Row MeasureRank(const RankLog& rank, size_t index,
                                     const std::vector<Iteration>& common,
                                     const CollectiveTable::Row& group) {
  CollectiveRankTable::Row row;
  row.set_collective(group.collective());
  row.set_group(group.group());
  row.set_rank(rank.instance);
  row.set_unfinished(rank.log->unfinished_count());
  const stats::LogHistogram times =
      results::HistogramOf(rank.log->duration_ns());
  row.set_iterations(static_cast<int64_t>(times.count()));
  if (times.count() > 0) {
    row.set_mean_ns(times.mean());
    row.set_p50_ns(static_cast<double>(times.ValueAtQuantile(0.5)));
    row.set_p99_ns(static_cast<double>(times.ValueAtQuantile(0.99)));
    row.set_max_ns(static_cast<double>(times.max()));
  }
  if (std::vector<double> pauses = PausesOf(*rank.log); !pauses.empty()) {
    row.set_pause_p50_ns(stats::LowMedian(std::move(pauses)));
  }
  double begins_later = 0;
  double ends_later = 0;
  for (const Iteration& each : common) {
    begins_later += each.begin.LaterThanFirstNs(index);
    ends_later += each.end.LaterThanFirstNs(index);
    row.set_last_to_begin_count(row.last_to_begin_count() +
                                each.begin.IsLast(index));
    row.set_last_to_end_count(row.last_to_end_count() + each.end.IsLast(index));
  }
  if (!common.empty()) {
    const auto count = static_cast<double>(common.size());
    row.set_begins_later_ns(begins_later / count);
    row.set_ends_later_ns(ends_later / count);
  }
  return row;
}

void SetSpreads(const std::vector<Iteration>& common,
                CollectiveTable::Row& row) {
  std::vector<double> whole;
  std::vector<double> complete;
  std::vector<double> begin;
  std::vector<double> end;
  for (const Iteration& each : common) {
    begin.push_back(each.begin.WidthNs());
    end.push_back(each.end.WidthNs());
    whole.push_back(
        static_cast<double>(each.end.last_ns - each.begin.first_ns));
    complete.push_back(
        static_cast<double>(each.end.last_ns - each.begin.last_ns));
  }
  SetSpread(std::move(whole), *row.mutable_whole());
  SetSpread(std::move(complete), *row.mutable_complete());
  SetSpread(std::move(begin), *row.mutable_begin());
  SetSpread(std::move(end), *row.mutable_end());
}

// The bytes that the busiest link carries to a rank in one operation of an
// action, if ranks get different ones.
std::optional<int64_t> BusiestLinkBytes(
    const DistributedSystemDescription& test, const Action& action) {
  std::vector<int64_t> received;  // by rank
  for (const auto& [rpc, count] : MessagesByRpc(test, action.name())) {
    const absl::Span<const int64_t> sizes = SizesByRank(test, rpc);
    received.resize(std::max(received.size(), sizes.size()));
    for (size_t i = 0; i < sizes.size(); ++i) received[i] += count * sizes[i];
  }
  if (received.empty()) return std::nullopt;
  return *absl::c_max_element(received);
}

// The mean of the ranks' means, as nccl-tests have it. In a broadcast, nobody
// waits for those behind him, so that the first ranks may have sent everything
// long before the last ones have it: there, the slowest says how long it takes.
void SetBandwidth(const std::vector<CollectiveRankTable::Row>& ranks,
                  std::optional<int64_t> busiest_link_bytes,
                  CollectiveTable::Row& row) {
  double sum_ns = 0;
  double longest_ns = 0;
  for (const CollectiveRankTable::Row& rank : ranks) {
    if (!rank.has_mean_ns()) return;
    sum_ns += rank.mean_ns();
    longest_ns = std::max(longest_ns, rank.mean_ns());
  }
  const double time_ns = row.operation() == "broadcast"
                             ? longest_ns
                             : sum_ns / static_cast<double>(ranks.size());
  row.set_time_ns(time_ns);
  if (time_ns <= 0) return;
  const auto size_bytes = static_cast<double>(row.size_bytes());
  row.set_algorithm_bandwidth(size_bytes * 1e9 / time_ns);
  const double bus_bytes =
      busiest_link_bytes ? static_cast<double>(*busiest_link_bytes)
                         : size_bytes * BusFactor(row.operation(), row.ranks());
  row.set_bus_bandwidth(bus_bytes * 1e9 / time_ns);
}

void SetLast(const std::vector<CollectiveRankTable::Row>& ranks,
             size_t common_count, CollectiveTable::Row& row) {
  if (common_count == 0) return;
  const auto most_of = [&](auto count_of) {
    return absl::c_max_element(ranks, [&](const auto& a, const auto& b) {
      return (a.*count_of)() < (b.*count_of)();
    });
  };
  using Rank = CollectiveRankTable::Row;
  const auto count = static_cast<double>(common_count);
  const auto begins = most_of(&Rank::last_to_begin_count);
  row.set_last_to_begin(begins->rank());
  row.set_last_to_begin_share(
      static_cast<double>(begins->last_to_begin_count()) / count);
  const auto ends = most_of(&Rank::last_to_end_count);
  row.set_last_to_end(ends->rank());
  row.set_last_to_end_share(static_cast<double>(ends->last_to_end_count()) /
                            count);
}

MeasuredCollective MeasureGroup(const TestResult& result, const Action& action,
                                const std::string& group,
                                const std::vector<RankLog>& ranks,
                                std::optional<int64_t> busiest_link_bytes) {
  MeasuredCollective measured;
  CollectiveTable::Row& row = measured.row;
  const CollectiveSpec& spec = action.collective();
  row.set_collective(action.name());
  row.set_group(group);
  row.set_operation(spec.operation());
  if (!spec.algorithm().empty()) row.set_algorithm(spec.algorithm());
  row.set_size_bytes(spec.size());
  row.set_ranks(std::max(
      static_cast<int64_t>(ranks.size()),
      RanksAlong(result, config::ServiceOf(ranks[0].instance), AxisOf(spec))));
  const bool are_all_known = std::ssize(ranks) == row.ranks();
  const std::vector<Iteration> common =
      are_all_known ? CommonIterations(ranks) : std::vector<Iteration>();
  for (size_t i = 0; i < ranks.size(); ++i) {
    measured.ranks.push_back(MeasureRank(ranks[i], i, common, row));
    const CollectiveRankTable::Row& rank = measured.ranks.back();
    row.set_unfinished(row.unfinished() + rank.unfinished());
    row.set_iterations(i == 0 ? rank.iterations()
                              : std::min(row.iterations(), rank.iterations()));
  }
  if (!are_all_known) {
    row.set_iterations(0);
    return measured;
  }
  SetBandwidth(measured.ranks, busiest_link_bytes, row);
  SetSpreads(common, row);
  SetLast(measured.ranks, common.size(), row);
  if (const auto error_ns = ClockErrorOf(result, ranks)) {
    row.set_clock_error_ns(*error_ns);
  }
  return measured;
}

}  // namespace

int AxisOf(const CollectiveSpec& spec) {
  return spec.axis() == "z" ? 2 : spec.axis() == "y" ? 1 : 0;
}

std::vector<MeasuredCollective> MeasureCollectives(const TestResult& result) {
  std::vector<MeasuredCollective> all;
  for (const Action& action : result.traffic_config().actions()) {
    if (!action.has_collective()) continue;
    const std::optional<int64_t> busiest_link_bytes =
        BusiestLinkBytes(result.traffic_config(), action);
    for (const auto& [group, ranks] : GroupsOf(result, action)) {
      all.push_back(
          MeasureGroup(result, action, group, ranks, busiest_link_bytes));
    }
  }
  return all;
}

std::map<int, int64_t> MessagesByRpc(const DistributedSystemDescription& test,
                                     absl::string_view collective) {
  std::string list;
  for (const Action& action : test.actions()) {
    if (action.name() == collective) list = action.action_list_name();
  }
  std::set<std::string> actions;
  for (const ActionList& each : test.action_lists()) {
    if (each.name() != list) continue;
    actions.insert(each.action_names().begin(), each.action_names().end());
  }
  std::map<std::string, int64_t> messages;
  for (const Action& action : test.actions()) {
    if (action.has_rpc_name() && actions.contains(action.name())) {
      ++messages[action.rpc_name()];
    }
  }
  std::map<int, int64_t> by_rpc;
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    const auto found = messages.find(test.rpc_descriptions(i).name());
    if (found != messages.end()) by_rpc[i] = found->second;
  }
  return by_rpc;
}

absl::Span<const int64_t> SizesByRank(const DistributedSystemDescription& test,
                                      int rpc) {
  const std::string& name = test.rpc_descriptions(rpc).request_payload_name();
  for (const PayloadSpec& payload : test.payload_descriptions()) {
    if (payload.name() == name) return payload.sizes_by_instance();
  }
  return {};
}

double BusFactor(absl::string_view operation, int64_t ranks) {
  const double n = static_cast<double>(std::max<int64_t>(ranks, 1));
  if (operation == "all_reduce") return 2 * (n - 1) / n;
  if (operation == "all_gather" || operation == "reduce_scatter" ||
      operation == "all_to_all") {
    return (n - 1) / n;
  }
  return 1;
}

// ---- Findings ---------------------------------------------------------------

namespace {

// Fewer iterations do not tell who is late or slow and who happened to be.
constexpr int64_t kEnoughIterations = 20;

// A rank for which the others wait a tenth of their time makes a job slower by
// about as much.
constexpr double kMuchWait = 0.1;

// Whether the rank spends most of the wait outside of the operation, more than
// others do. If not, it begins late because it ended late, as a rank does whose
// messages are slow, and whoever is at the end of a tree. Taken for true if it
// is not known.
bool IsSlowInBetween(const CollectiveRankTable::Row& slow,
                     const MeasuredCollective& collective, double wait_ns) {
  std::vector<double> others;
  for (const CollectiveRankTable::Row& rank : collective.ranks) {
    if (rank.has_pause_p50_ns() && rank.rank() != slow.rank()) {
      others.push_back(rank.pause_p50_ns());
    }
  }
  if (!slow.has_pause_p50_ns() || others.empty()) return true;
  return slow.pause_p50_ns() - stats::LowMedian(std::move(others)) >=
         wait_ns / 2;
}

// Whether there is one, and it is named.
bool JudgeSlowRank(const MeasuredCollective& collective,
                   report::FindingList& findings) {
  const CollectiveTable::Row& row = collective.row;
  if (row.time_ns() <= 0) return false;
  const double by_chance = 1.0 / static_cast<double>(row.ranks());
  if (row.last_to_begin_share() < std::max(0.5, 2 * by_chance) &&
      !(row.ranks() <= 3 && row.last_to_begin_share() > 0.9)) {
    return false;
  }
  const auto slow = absl::c_find_if(collective.ranks, [&](const auto& rank) {
    return rank.rank() == row.last_to_begin();
  });
  const double wait_ns = row.begin().p50_ns();
  const bool is_known = wait_ns > 2 * static_cast<double>(row.clock_error_ns());
  if (wait_ns < kMuchWait * row.time_ns() || !is_known) return false;
  if (!IsSlowInBetween(*slow, collective, wait_ns)) return false;
  findings.Add(
      Finding::NOTE, "slow_rank",
      absl::StrCat(slow->rank(), " is the last to begin ", row.collective(),
                   " in ", base::HumanPercent(row.last_to_begin_share()),
                   " of the iterations of ", row.group(), ", by ",
                   base::HumanDuration(wait_ns), " (p50) of ",
                   base::HumanDuration(row.time_ns()),
                   " per iteration: the others wait for it"),
      "Look at what it does before the operation, and at its host.");
  return true;
}

}  // namespace

void JudgeCollectives(const TestResult& result, report::FindingList& findings) {
  for (const MeasuredCollective& collective : MeasureCollectives(result)) {
    const CollectiveTable::Row& row = collective.row;
    // The messages of a rank that is slow itself may well be slow, too.
    if (row.iterations() >= kEnoughIterations &&
        !JudgeSlowRank(collective, findings)) {
      JudgeSlowMessages(result, collective, findings);
    }
    if (!AreAllKnown(collective)) {
      findings.Add(
          Finding::WARN, "collective_unfinished",
          absl::StrCat("of ", row.ranks() - std::ssize(collective.ranks),
                       " of the ", row.ranks(), " ranks of ", row.group(),
                       ", no iteration of ", row.collective(),
                       " is known: they did not begin any after the warm-up"),
          "Look at failed RPCs, at ranks that stopped, and at nodes that were "
          "lost.");
    }
    if (row.unfinished() == 0) continue;
    findings.Add(
        Finding::WARN, "collective_unfinished",
        absl::StrCat(row.unfinished(), " iterations of ", row.collective(),
                     " did not finish at ranks of ", row.group(),
                     ": they waited for messages that did not come before the "
                     "traffic ended"),
        "Look at failed RPCs and at ranks that stopped; let all ranks do the "
        "same number of iterations (max_iteration_count, not max_duration).");
  }
}

}  // namespace distbench::collectives
