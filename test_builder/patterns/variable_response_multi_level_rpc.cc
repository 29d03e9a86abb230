#include "test_builder/patterns/patterns.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/patterns/query_tree.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

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
  traffic.alias = absl::StrCat(
      "variable_response_multi_level_rpc_", values.Text("root_count"), "x",
      values.Text("leaf_count"), "x", values.Text("qps"));
  if (values.Has(kArrivals)) {
    absl::StrAppend(&traffic.alias, "_", ArrivalsName(values));
  }
  traffic.name_suffix =
      absl::StrCat("-", values.Text(lower_name), "-", values.Text(upper_name));
  AddQueryTree(traffic.body, values, "exponential")
      .set_distribution_config_name("leaf_payload");
  AddLeafSizes(traffic.body, "leaf_payload", lower_bytes, upper_bytes);
  traffic.body.mutable_overload_limits()->set_max_threads(kMaxThreads);
  return traffic;
}

std::vector<Parameter> VariableResponseParameters() {
  std::vector<Parameter> parameters = QueryTreeParameters();
  parameters.push_back(InBytes(IntegerParameter("lower_size", "1024", {0},
                                                "Bytes of the smallest leaf "
                                                "response.")));
  parameters.back().excluded_by = "exact_size";
  parameters.push_back(InBytes(IntegerParameter("upper_size", "64000", {0},
                                                "Bytes of the largest leaf "
                                                "response.")));
  parameters.back().excluded_by = "exact_size";
  parameters.push_back(InBytes(IntegerParameter(
      "exact_size", "", {0}, "Bytes of every leaf response.")));
  return parameters;
}

}  // namespace

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
      .parameters = VariableResponseParameters(),
      .build = &BuildVariableResponse,
  };
}

}  // namespace distbench::test_builder
