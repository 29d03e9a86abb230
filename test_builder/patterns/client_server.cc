#include "test_builder/patterns/patterns.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/common_parameters.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kRequestBytes = 196;
constexpr int64_t kResponseBytes = 262144;
constexpr int64_t kWarmupIterations = 1000;

absl::StatusOr<Traffic> BuildClientServer(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias = absl::StrCat("client_server_", values.Text("client_count"),
                               "x", values.Text("server_count"), "x",
                               values.Text("parallel_queries"));
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "client", values.Integer("client_count"));
  AddService(body, "server", values.Integer("server_count"));
  AddRpcWithPayloads(body, "client_server_rpc", "client", "server", "", "");
  AddPayloadPair(body, "", kRequestBytes, kResponseBytes);
  AddActionList(body, "client", {"run_queries"});
  Iterations& iterations =
      *AddRpcAction(body, "run_queries", "client_server_rpc")
           .mutable_iterations();
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_max_parallel_iterations(values.Integer("parallel_queries"));
  iterations.set_warmup_iterations(kWarmupIterations);
  AddActionList(body, "client_server_rpc");
  return traffic;
}

}  // namespace

Pattern ClientServerPattern() {
  return {
      .name = "client_server",
      .summary = "clients with RPCs in flight to all servers",
      .description =
          "Closed loop: each client keeps parallel_queries queries in flight, "
          "for as long as the test lasts. A query goes to every server "
          "(196 bytes), each answers with 256 KiB, and the next query starts "
          "when all have answered.",
      .example = "client_server:client_count=2:parallel_queries=10",
      .parameters = {IntegerParameter("parallel_queries", "100", {1},
                                      "Queries that each client has in "
                                      "flight."),
                     IntegerParameter("client_count", "1", {1, kMaxInstances},
                                      "Clients."),
                     IntegerParameter("server_count", "1", {1, kMaxInstances},
                                      "Servers; each query goes to all.")},
      .build = &BuildClientServer,
  };
}

}  // namespace distbench::test_builder
