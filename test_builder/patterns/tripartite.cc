#include "test_builder/patterns/patterns.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/common_parameters.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kIndexRequestBytes = 196;
constexpr int64_t kIndexResponseBytes = 1024;
constexpr int64_t kDataRequestBytes = 64;
constexpr int64_t kDataResponseBytes = 512;
constexpr int64_t kTripartiteWarmupIterations = 1000;

void AddClientProgram(DistributedSystemDescription& body, int64_t duration_us) {
  AddActionList(body, "client", {"client_do_many_queries"});
  Action& many = *body.add_actions();
  many.set_name("client_do_many_queries");
  many.set_action_list_name("client_do_one_query");
  many.mutable_iterations()->set_max_duration_us(duration_us);
  many.mutable_iterations()->set_warmup_iterations(kTripartiteWarmupIterations);

  AddActionList(body, "client_do_one_query",
                {"client_queryindex", "client_querydata"});
  AddRpcAction(body, "client_queryindex", "client_index_rpc");
  AddRpcAction(body, "client_querydata", "client_data_rpc")
      .add_dependencies("client_queryindex");
}

absl::StatusOr<Traffic> BuildTripartite(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias =
      absl::StrCat("tripartite_", values.Text("client_count"), "x",
                   values.Text("index_count"), "x", values.Text("data_count"));
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "client", values.Integer("client_count"));
  AddService(body, "index", values.Integer("index_count"));
  AddService(body, "data", values.Integer("data_count"));
  AddRpcWithPayloads(body, "client_index_rpc", "client", "index", "", "index");
  AddRpcWithPayloads(body, "client_data_rpc", "client", "data", "", "data");
  AddPayloadPair(body, "index", kIndexRequestBytes, kIndexResponseBytes);
  AddPayloadPair(body, "data", kDataRequestBytes, kDataResponseBytes);
  AddClientProgram(body, TestDurationUs(values));
  AddActionList(body, "client_index_rpc");
  AddActionList(body, "client_data_rpc");
  return traffic;
}

}  // namespace

Pattern TripartitePattern() {
  return {
      .name = "tripartite",
      .summary = "clients ask an index, then data servers",
      .description =
          "Closed loop, one query at a time per client. A query is two steps: "
          "an RPC to every index server (196 bytes, answered with 1 KiB), and "
          "when that is done an RPC to every data server (64 bytes, answered "
          "with 512 bytes). The latencies of the steps add up.",
      .example = "tripartite:client_count=2:data_count=3",
      .parameters = {IntegerParameter("client_count", "1", {1, kMaxInstances},
                                      "Clients."),
                     IntegerParameter("index_count", "1", {1, kMaxInstances},
                                      "Index servers; each query asks all."),
                     IntegerParameter("data_count", "10", {1, kMaxInstances},
                                      "Data servers; each query asks all.")},
      .build = &BuildTripartite,
  };
}

}  // namespace distbench::test_builder
