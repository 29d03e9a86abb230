// Patterns of a load balancer, roots and leaves.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// qps, root_count and leaf_count.
std::vector<Parameter> QueryTreeParameters() {
  return {QpsParameter("10000"),
          IntegerParameter("root_count", "4", {1, kMaxInstances},
                           "Root servers, queried in turn."),
          IntegerParameter("leaf_count", "20", {1, kMaxInstances},
                           "Leaf servers; every query reaches all.")};
}

// The form of a load balancer that sends qps queries per second to the roots in
// turn. Each root queries all leaves before it answers. `distribution` is a
// field of the load balancer's iterations, `leaf_query` are fields of the RPC
// from root to leaf.
std::string QueryTree(absl::string_view distribution,
                      absl::string_view leaf_query) {
  return absl::Substitute(R"(
    services { name: "load_balancer" count: 1 }
    services { name: "root" count: <root_count> }
    services { name: "leaf" count: <leaf_count> }
    action_lists {
      name: "load_balancer"
      action_names: "do_closed_loop_root_queries"
      max_rpc_samples: 10000000
    }
    actions {
      name: "do_closed_loop_root_queries"
      rpc_name: "root_query"
      iterations {
        max_duration_us: <duration_us>
        open_loop_interval_ns: <interval_ns>
        $0
        warmup_iterations: <warmup_iterations>
      }
    }
    rpc_descriptions {
      name: "root_query" client: "load_balancer" server: "root"
      fanout_filter: "round_robin"
      request_payload_name: "root_request_payload"
      response_payload_name: "root_response_payload"
    }
    payload_descriptions { name: "root_request_payload" size: 1024 }
    payload_descriptions { name: "root_response_payload" size: 1024 }
    action_lists {
      name: "root_query"
      action_names: "root_query_fanout"
      max_rpc_samples: 256
    }
    actions { name: "root_query_fanout" rpc_name: "leaf_query" }
    action_lists { name: "leaf_query" }
    rpc_descriptions {
      name: "leaf_query" client: "root" server: "leaf"
      fanout_filter: "all"
      $1
    })",
                          distribution, leaf_query);
}

absl::Status DeriveQueryTree(const ParameterValues& values,
                             DerivedValues& derived) {
  constexpr double kWarmupSeconds = 3;
  const double qps = values.Number("qps");
  derived["interval_ns"] =
      absl::StrCat(static_cast<int64_t>(std::floor(1e9 / qps)));
  derived["warmup_iterations"] =
      absl::StrCat(static_cast<int64_t>(std::floor(kWarmupSeconds * qps)));
  derived["arrivals_suffix"] = values.Has(kArrivals) ? "_<arrivals>" : "";
  return absl::OkStatus();
}

absl::Status DeriveVariableResponse(const ParameterValues& values,
                                    DerivedValues& derived) {
  const bool exact = values.Has("exact_size");
  derived["lower"] = exact ? "<exact_size>" : "<lower_size>";
  derived["upper"] = exact ? "<exact_size>" : "<upper_size>";
  if (!exact && values.Integer("lower_size") > values.Integer("upper_size")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lower_size=", values.Integer("lower_size"), " is above upper_size=",
        values.Integer("upper_size"), "; it must not be"));
  }
  return DeriveQueryTree(values, derived);
}

constexpr char kLeafPayloads[] = R"(
    payload_descriptions { name: "leaf_request_payload" size: 1024 }
    payload_descriptions { name: "leaf_response_payload" size: 1024 })";

constexpr char kLeafSizes[] = R"(
    distribution_config {
      name: "leaf_payload"
      field_names: "request_payload_size"
      field_names: "response_payload_size"
      pmf_points {
        pmf: 1
        data_points { exact: 1024 }
        data_points { lower: <lower> upper: <upper> }
      }
    }
    overload_limits { max_threads: 10000 })";

std::vector<Parameter> LeafSizeParameters() {
  return {ExcludedBy("exact_size",
                     IntegerParameter("lower_size", "1024", {0},
                                      "Bytes of the smallest leaf response.",
                                      Unit::kBytes)),
          ExcludedBy("exact_size",
                     IntegerParameter("upper_size", "64000", {0},
                                      "Bytes of the largest leaf response.",
                                      Unit::kBytes)),
          IntegerParameter("exact_size", "", {0},
                           "Bytes of every leaf response.", Unit::kBytes)};
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
      .alias =
          "multi_level_rpc_<root_count>x<leaf_count>x<qps><arrivals_suffix>",
      .body = absl::StrCat(QueryTree("", R"(
                             request_payload_name: "leaf_request_payload"
                             response_payload_name: "leaf_response_payload")"),
                           kLeafPayloads),
      .derive = &DeriveQueryTree,
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
      .alias =
          "variable_response_multi_level_rpc_<root_count>x<leaf_count>x"
          "<qps><arrivals_suffix>",
      .name_suffix = "-<lower>-<upper>",
      .body = absl::StrCat(
          QueryTree(R"(open_loop_interval_distribution: "exponential")",
                    R"(distribution_config_name: "leaf_payload")"),
          kLeafSizes),
      .derive = &DeriveVariableResponse,
  };
}

}  // namespace distbench::test_builder
