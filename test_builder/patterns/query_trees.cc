// Patterns of a load balancer, roots and leaves.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kRootPayloadBytes = 1024;
constexpr double kWarmupSeconds = 3;
constexpr int64_t kLoadBalancerSamples = 10'000'000;
constexpr int64_t kRootSamples = 256;

void SetSchedule(const ParameterValues& values, absl::string_view arrivals,
                 Iterations& iterations) {
  const double qps = values.Number("qps");
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(
      static_cast<int64_t>(std::floor(1e9 / qps)));
  if (!arrivals.empty()) {
    iterations.set_open_loop_interval_distribution(std::string(arrivals));
  }
  iterations.set_warmup_iterations(
      static_cast<int64_t>(std::floor(kWarmupSeconds * qps)));
}

// qps, root_count and leaf_count.
std::vector<Parameter> QueryTreeParameters() {
  return {QpsParameter("10000"),
          IntegerParameter("root_count", "4", {1, kMaxInstances},
                           "Root servers, queried in turn."),
          IntegerParameter("leaf_count", "20", {1, kMaxInstances},
                           "Leaf servers; every query reaches all.")};
}

// Adds a load balancer that sends qps queries per second to the roots in turn.
// Each root queries all leaves before it answers. Root queries carry 1 KiB in
// each direction. `arrivals` is an open_loop_interval_distribution; empty means
// the default. Returns the RPC from root to leaf, whose sizes the caller must
// set.
RpcSpec& AddQueryTree(DistributedSystemDescription& test,
                      const ParameterValues& values,
                      absl::string_view arrivals) {
  AddService(test, "load_balancer", 1);
  AddService(test, "root", values.Integer("root_count"));
  AddService(test, "leaf", values.Integer("leaf_count"));

  AddActionList(test, "load_balancer", {"do_closed_loop_root_queries"})
      .set_max_rpc_samples(kLoadBalancerSamples);
  SetSchedule(values, arrivals,
              *AddRpcAction(test, "do_closed_loop_root_queries", "root_query")
                   .mutable_iterations());
  AddRpcWithPayloads(test, "root_query", "load_balancer", "root", "round_robin",
                     "root");
  AddPayloadPair(test, "root", kRootPayloadBytes, kRootPayloadBytes);

  AddActionList(test, "root_query", {"root_query_fanout"})
      .set_max_rpc_samples(kRootSamples);
  AddRpcAction(test, "root_query_fanout", "leaf_query");
  AddActionList(test, "leaf_query");
  return AddRpc(test, "leaf_query", "root", "leaf", "all");
}

std::string QueryTreeAlias(const ParameterValues& values,
                           absl::string_view form) {
  std::string alias = Alias(values, form);
  if (values.Has(kArrivals)) {
    absl::StrAppend(&alias, "_", ArrivalsName(values));
  }
  return alias;
}

constexpr int64_t kLeafPayloadBytes = 1024;

absl::StatusOr<Traffic> BuildMultiLevelRpc(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias =
      QueryTreeAlias(values, "multi_level_rpc_{root_count}x{leaf_count}x{qps}");
  RpcSpec& leaf_query = AddQueryTree(traffic.body, values, "");
  leaf_query.set_request_payload_name("leaf_request_payload");
  leaf_query.set_response_payload_name("leaf_response_payload");
  AddPayloadPair(traffic.body, "leaf", kLeafPayloadBytes, kLeafPayloadBytes);
  return traffic;
}

constexpr int64_t kLeafRequestBytes = 1024;
constexpr int64_t kMaxThreads = 10000;

void AddLeafSizes(DistributedSystemDescription& body, absl::string_view name,
                  int64_t lower_bytes, int64_t upper_bytes) {
  DistributionConfig& sizes = *body.add_distribution_config();
  sizes.set_name(std::string(name));
  sizes.add_field_names("request_payload_size");
  sizes.add_field_names("response_payload_size");
  PmfPoint& point = *sizes.add_pmf_points();
  point.set_pmf(1);
  point.add_data_points()->set_exact(kLeafRequestBytes);
  DataPoint& response = *point.add_data_points();
  response.set_lower(lower_bytes);
  response.set_upper(upper_bytes);
}

absl::StatusOr<Traffic> BuildVariableResponse(const ParameterValues& values) {
  const bool exact = values.Has("exact_size");
  const absl::string_view lower_name = exact ? "exact_size" : "lower_size";
  const absl::string_view upper_name = exact ? "exact_size" : "upper_size";
  const int64_t lower_bytes = values.Integer(lower_name);
  const int64_t upper_bytes = values.Integer(upper_name);
  if (lower_bytes > upper_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("lower_size=", lower_bytes,
                     " is above upper_size=", upper_bytes, "; it must not be"));
  }
  Traffic traffic;
  traffic.alias = QueryTreeAlias(
      values,
      "variable_response_multi_level_rpc_{root_count}x{leaf_count}x{qps}");
  traffic.name_suffix =
      absl::StrCat("-", values.Text(lower_name), "-", values.Text(upper_name));
  AddQueryTree(traffic.body, values, "exponential")
      .set_distribution_config_name("leaf_payload");
  AddLeafSizes(traffic.body, "leaf_payload", lower_bytes, upper_bytes);
  traffic.body.mutable_overload_limits()->set_max_threads(kMaxThreads);
  return traffic;
}

std::vector<Parameter> LeafSizeParameters() {
  return {
      ExcludedBy("exact_size", InBytes(IntegerParameter(
                                   "lower_size", "1024", {0},
                                   "Bytes of the smallest leaf response."))),
      ExcludedBy("exact_size", InBytes(IntegerParameter(
                                   "upper_size", "64000", {0},
                                   "Bytes of the largest leaf response."))),
      InBytes(IntegerParameter("exact_size", "", {0},
                               "Bytes of every leaf response."))};
}

}  // namespace

Pattern MultiLevelRpcPattern() {
  return {
      .name = "multi_level_rpc",
      .summary = "load balancer, roots and leaves",
      .description =
          "Open loop: a load balancer sends qps queries per second at constant "
          "intervals to the roots in turn. A root asks every leaf and answers "
          "when all of them have, so that the slowest leaf decides. All "
          "messages are of 1 KiB.",
      .example = "multi_level_rpc:root_count=2:leaf_count=3:qps=500",
      .parameters = QueryTreeParameters(),
      .build = &BuildMultiLevelRpc,
  };
}

Pattern VariableResponseMultiLevelRpcPattern() {
  return {
      .name = "variable_response_multi_level_rpc",
      .summary = "multi_level_rpc, responses of random size",
      .description =
          "As multi_level_rpc, but queries arrive as a Poisson process, and "
          "each query draws the size of its leaf responses uniformly from "
          "lower_size to upper_size: large responses stand in the way of "
          "small ones.",
      .example = "variable_response_multi_level_rpc:leaf_count=3:qps=500",
      .parameters = Joined({QueryTreeParameters(), LeafSizeParameters()}),
      .build = &BuildVariableResponse,
  };
}

}  // namespace distbench::test_builder
