// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "test_builder/patterns/collective_schedule.h"
#include "test_builder/patterns/homa_workloads.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kMaxInstances = 100'000;

// ---- Open loops -------------------------------------------------------------

// Of the form "query_load".
absl::Status DeriveQueryLoad(const ParameterValues& values, ValueMap& derived) {
  derived["interval_ns"] =
      absl::StrCat(std::llround(1e9 / values.Number("qps")));
  derived["warmup_ns"] =
      absl::StrCat(std::llround(values.Number("warmup_seconds") * 1e9));
  return absl::OkStatus();
}

// Of the form "query_tree".
absl::Status DeriveQueryTree(const ParameterValues& values, ValueMap& derived) {
  constexpr double kWarmupSeconds = 3;
  const double qps = values.Number("qps");
  derived["interval_ns"] =
      absl::StrCat(static_cast<int64_t>(std::floor(1e9 / qps)));
  derived["warmup_iterations"] =
      absl::StrCat(static_cast<int64_t>(std::floor(kWarmupSeconds * qps)));
  return absl::OkStatus();
}

absl::Status DeriveVariableResponse(const ParameterValues& values,
                                    ValueMap& derived) {
  if (!values.Has("exact_size") &&
      values.Integer("lower_size") > values.Integer("upper_size")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lower_size=", values.Integer("lower_size"), " is above upper_size=",
        values.Integer("upper_size"), "; it must not be"));
  }
  return DeriveQueryTree(values, derived);
}

// Of queries every rpc_interval_us, after a warm-up of three seconds.
absl::Status DerivePeriod(const ParameterValues& values, ValueMap& derived) {
  constexpr int64_t kWarmupUs = 3'000'000;
  const int64_t interval_us = values.Integer("rpc_interval_us");
  derived["interval_ns"] = absl::StrCat(interval_us * 1000);
  derived["warmup_iterations"] = absl::StrCat(kWarmupUs / interval_us);
  return absl::OkStatus();
}

absl::Status DeriveGrid(const ParameterValues& values, ValueMap& derived) {
  const int64_t x_size = values.Integer("x_size");
  const int64_t y_size = values.Integer("y_size");
  if (x_size * y_size > kMaxInstances) {
    return absl::InvalidArgumentError(absl::StrCat(
        "x_size=", x_size, ", y_size=", y_size, ": the grid has ",
        x_size * y_size, " nodes; at most ", kMaxInstances, " are possible"));
  }
  derived["node_count"] = absl::StrCat(x_size * y_size);
  return DerivePeriod(values, derived);
}

absl::Status DeriveStreaming(const ParameterValues& values, ValueMap& derived) {
  derived["stream_interval_ns"] =
      absl::StrCat(values.Integer("interval_us") * 1000);
  return DeriveQueryLoad(values, derived);
}

// The interval at which messages of this mean size make `gbps` per node. Every
// message is sent twice, because a response is as large as its request.
int64_t IntervalNs(double mean_bytes, double gbps) {
  constexpr double kBitsPerByte = 8;
  return 2 * static_cast<int64_t>(std::ceil(mean_bytes * kBitsPerByte / gbps));
}

absl::Status DeriveHomaMessages(const ParameterValues& values,
                                ValueMap& derived) {
  const MessageSizeCdf sizes = HomaMessageSizes(
      values.Text("workload"),
      {.max_message_bytes = values.Integer("max_message_length"),
       .min_bucket_fraction = values.Number("min_bucket_frac"),
       .max_size_ratio = values.Number("max_size_ratio")});
  derived["interval_ns"] =
      absl::StrCat(IntervalNs(sizes.mean_bytes, values.Number("gbps")));
  derived["warmup_iterations"] = "1500";
  for (const MessageSizeCdf::Point& point : sizes.points) {
    absl::StrAppendFormat(&derived["cdf_points"],
                          "cdf_points { value: %d cdf: %.17g }\n", point.bytes,
                          point.cdf);
  }
  return absl::OkStatus();
}

// ---- stochastic -------------------------------------------------------------

absl::Status FanoutError(absl::string_view fanout, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("fanout=", fanout, ": ", problem,
                   "; write PROBABILITYxSERVERS terms joined by '+', such as "
                   "0.7x1+0.3x4, with probabilities that add up to 1"));
}

// The filter has the numbers as they are written.
absl::StatusOr<std::string> FanoutFilter(absl::string_view fanout,
                                         int64_t server_count) {
  constexpr double kTolerance = 1e-6;
  std::vector<std::string> terms;
  double total = 0;
  for (absl::string_view text : absl::StrSplit(fanout, '+')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
    double probability;
    int32_t servers;
    if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &probability) ||
        !absl::SimpleAtoi(parts[1], &servers)) {
      return FanoutError(fanout, absl::StrCat("\"", text, "\" is not a term"));
    }
    if (!(probability >= 0 && probability <= 1)) {
      return FanoutError(fanout, absl::StrCat("the probability ", parts[0],
                                              " is not from 0 to 1"));
    }
    if (servers < 0 || servers > server_count) {
      return FanoutError(
          fanout, absl::StrCat("queries to ", servers,
                               " servers need server_count to be at least as "
                               "large, and it is ",
                               server_count));
    }
    total += probability;
    terms.push_back(absl::StrJoin(parts, ":"));
  }
  if (std::abs(total - 1) > kTolerance) {
    return FanoutError(fanout,
                       absl::StrCat("the probabilities add up to ", total));
  }
  return absl::StrCat("stochastic{", absl::StrJoin(terms, ","), "}");
}

absl::Status DeriveStochastic(const ParameterValues& values,
                              ValueMap& derived) {
  absl::StatusOr<std::string> filter =
      FanoutFilter(values.Text("fanout"), values.Integer("server_count"));
  if (!filter.ok()) return filter.status();
  derived["fanout_filter"] = *std::move(filter);
  if (!values.Has("iterations")) return absl::OkStatus();
  const int64_t count = values.Integer("iterations");
  const int64_t warmup = values.Integer("warmup_iterations");
  if (count > warmup) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "iterations=", count, " leaves nothing to measure after ", warmup,
      " warm-up iterations; raise it or lower warmup_iterations"));
}

// ---- feed_aggregator --------------------------------------------------------

// An amount of work: the parameter's, or else the preset's.
int64_t AmountOf(absl::string_view name, const ParameterValues& values,
                 const ValueMap& derived) {
  if (values.Has(name)) return values.Integer(name);
  int64_t amount = 0;
  const auto found = derived.find(name);
  if (found != derived.end()) (void)absl::SimpleAtoi(found->second, &amount);
  return amount;
}

// The preset, and the values that override it.
std::string WorkName(const ParameterValues& values) {
  if (!values.Has("preset")) return "";
  std::string name = absl::StrCat(values.Text("preset"), "_");
  for (const Parameter& parameter :
       FindPattern("feed_aggregator")->parameters()) {
    if (!parameter.has_needs() || !values.Has(parameter.name())) continue;
    absl::StrAppend(&name, parameter.name(), values.Text(parameter.name()),
                    "_");
  }
  return name;
}

absl::Status DeriveFeed(const ParameterValues& values, ValueMap& derived) {
  constexpr int64_t kStoryBytes = 7900;
  constexpr int64_t kLeastCorpusBytes = 3 << 20;
  derived["work_name"] = WorkName(values);
  derived["rank_slice"] =
      absl::StrCat(std::min(AmountOf("rank_slice", values, derived),
                            AmountOf("rank_nodes", values, derived)));
  const int64_t half_of_stories =
      AmountOf("stories", values, derived) * kStoryBytes / 2;
  derived["stories_bytes"] = absl::StrCat(half_of_stories);
  derived["stories_corpus_bytes"] =
      absl::StrCat(std::max(kLeastCorpusBytes, half_of_stories));
  return DeriveQueryLoad(values, derived);
}

// ---- collective and training ------------------------------------------------

constexpr char kCompute[] = "compute";

// Whether ranks compute at all; then with the distribution of their times.
bool AddCompute(const ParameterValues& values,
                DistributedSystemDescription& test) {
  constexpr double kNsPerUs = 1000;
  const double mean_ns = kNsPerUs * values.Number("compute_us");
  if (mean_ns == 0) return false;
  const double spread = values.Number("compute_spread_percent") / 100;
  DistributionConfig& times = *test.add_delay_distribution_configs();
  times.set_name(kCompute);
  times.add_field_names("action_delay_ns");
  PmfPoint& point = *times.add_pmf_points();
  point.set_pmf(1);
  DataPoint& range = *point.add_data_points();
  range.set_lower(std::llround(mean_ns * (1 - spread)));
  range.set_upper(std::llround(mean_ns * (1 + spread)));
  return true;
}

// Adds the list, in which ranks compute, if they do, before the collective.
absl::Status AddCollectiveList(absl::string_view list, bool computes,
                               const Collective& collective,
                               DistributedSystemDescription& test) {
  ActionList& actions = *test.add_action_lists();
  actions.set_name(std::string(list));
  if (computes) {
    Action& compute = *test.add_actions();
    compute.set_name(kCompute);
    compute.set_delay_distribution_name(kCompute);
    actions.add_action_names(kCompute);
  }
  actions.add_action_names(collective.name);
  return AddCollective(collective, computes ? kCompute : "", test);
}

void SetSchedule(const ParameterValues& values,
                 const DistributedSystemDescription& test, ValueMap& derived) {
  google::protobuf::TextFormat::PrintToString(test, &derived["schedule"]);
  derived["total_iterations"] = absl::StrCat(
      values.Integer("iterations") + values.Integer("warmup_iterations"));
}

absl::Status DeriveCollective(const ParameterValues& values,
                              ValueMap& derived) {
  const std::string& operation = values.Text("operation");
  Collective collective = {.name = operation,
                           .operation = operation,
                           .algorithm = values.Has("algorithm")
                                            ? values.Text("algorithm")
                                            : AlgorithmsOf(operation).front(),
                           .ranks = values.Integer("ranks"),
                           .size = values.Integer("size"),
                           .chunks = values.Integer("chunks"),
                           .skew = values.Number("skew")};
  derived["chosen_algorithm"] = collective.algorithm;
  const int64_t ranks = collective.ranks * values.Integer("groups");
  if (ranks > kMaxInstances) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ranks=", collective.ranks, ", groups=", values.Integer("groups"),
        ": these are ", ranks, " ranks; at most ", kMaxInstances,
        " are possible"));
  }
  DistributedSystemDescription test;
  const bool computes = AddCompute(values, test);
  const bool is_pipeline = operation == "pipeline";
  if (computes && is_pipeline) collective.compute = kCompute;
  absl::Status status = AddCollectiveList("iteration", computes && !is_pipeline,
                                          collective, test);
  SetSchedule(values, test, derived);
  return status;
}

absl::Status DeriveTraining(const ParameterValues& values, ValueMap& derived) {
  const auto all_reduce = [&](absl::string_view kind, absl::string_view size,
                              const char* axis) {
    return Collective{
        .name = absl::StrCat(kind, "_all_reduce"),
        .operation = "all_reduce",
        .algorithm = values.Text(absl::StrCat(kind, "_algorithm")),
        .axis = axis,
        .ranks = values.Integer(absl::StrCat(kind, "_parallel")),
        .size = values.Integer(size),
        .chunks = values.Integer("chunks")};
  };
  const Collective rows = all_reduce("tensor", "activation_size", "x");
  const Collective columns = all_reduce("data", "gradient_size", "y");
  if (rows.ranks * columns.ranks > kMaxInstances) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor_parallel=", rows.ranks, ", data_parallel=", columns.ranks,
        ": these are ", rows.ranks * columns.ranks, " ranks; at most ",
        kMaxInstances, " are possible"));
  }
  DistributedSystemDescription test;
  const bool computes = AddCompute(values, test);
  absl::Status status = AddCollectiveList("layer", computes, rows, test);
  if (status.ok()) status = AddCollective(columns, "layers", test);
  SetSchedule(values, test, derived);
  return status;
}

}  // namespace

DeriveFunction FindDeriveFunction(absl::string_view name) {
  static const auto& functions =
      *new std::map<absl::string_view, DeriveFunction>{
          {"collective", &DeriveCollective},
          {"feed", &DeriveFeed},
          {"grid", &DeriveGrid},
          {"homa_messages", &DeriveHomaMessages},
          {"period", &DerivePeriod},
          {"query_load", &DeriveQueryLoad},
          {"query_tree", &DeriveQueryTree},
          {"stochastic", &DeriveStochastic},
          {"streaming", &DeriveStreaming},
          {"training", &DeriveTraining},
          {"variable_response", &DeriveVariableResponse},
      };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

}  // namespace distbench::test_builder
