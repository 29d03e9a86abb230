#include "test_builder/patterns/patterns.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/patterns/query_tree.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kLeafPayloadBytes = 1024;

absl::StatusOr<Traffic> BuildMultiLevelRpc(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias =
      absl::StrCat("multi_level_rpc_", values.Text("root_count"), "x",
                   values.Text("leaf_count"), "x", values.Text("qps"));
  if (values.Has(kArrivals)) {
    absl::StrAppend(&traffic.alias, "_", ArrivalsName(values));
  }
  RpcSpec& leaf_query = AddQueryTree(traffic.body, values, "");
  leaf_query.set_request_payload_name("leaf_request_payload");
  leaf_query.set_response_payload_name("leaf_response_payload");
  AddPayloadPair(traffic.body, "leaf", kLeafPayloadBytes, kLeafPayloadBytes);
  return traffic;
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

}  // namespace distbench::test_builder
