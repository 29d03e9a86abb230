// Patterns of clients that send a query when an earlier one has ended.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kRequestBytes = 196;
constexpr int64_t kResponseBytes = 262144;
constexpr int64_t kWarmupIterations = 1000;

absl::StatusOr<Traffic> BuildClientServer(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias = Alias(
      values, "client_server_{client_count}x{server_count}x{parallel_queries}");
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

constexpr int64_t kIndexRequestBytes = 196;
constexpr int64_t kIndexResponseBytes = 1024;
constexpr int64_t kDataRequestBytes = 64;
constexpr int64_t kDataResponseBytes = 512;

void AddClientProgram(DistributedSystemDescription& body, int64_t duration_us) {
  AddActionList(body, "client", {"client_do_many_queries"});
  Action& many = *body.add_actions();
  many.set_name("client_do_many_queries");
  many.set_action_list_name("client_do_one_query");
  many.mutable_iterations()->set_max_duration_us(duration_us);
  many.mutable_iterations()->set_warmup_iterations(kWarmupIterations);

  AddActionList(body, "client_do_one_query",
                {"client_queryindex", "client_querydata"});
  AddRpcAction(body, "client_queryindex", "client_index_rpc");
  AddRpcAction(body, "client_querydata", "client_data_rpc")
      .add_dependencies("client_queryindex");
}

absl::StatusOr<Traffic> BuildTripartite(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias =
      Alias(values, "tripartite_{client_count}x{index_count}x{data_count}");
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

// Kept as text, because the text becomes part of the fanout filter.
struct FanoutTerm {
  absl::string_view probability;
  absl::string_view server_count;
};

absl::Status FanoutError(absl::string_view fanout, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("fanout=", fanout, ": ", problem,
                   "; write PROBABILITYxSERVERS terms joined by '+', such as "
                   "0.7x1+0.3x4, with probabilities that add up to 1"));
}

absl::StatusOr<std::vector<FanoutTerm>> ParseFanout(absl::string_view fanout,
                                                    int64_t server_count) {
  constexpr double kTolerance = 1e-6;
  std::vector<FanoutTerm> terms;
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
    terms.push_back({parts[0], parts[1]});
  }
  if (std::abs(total - 1) > kTolerance) {
    return FanoutError(fanout,
                       absl::StrCat("the probabilities add up to ", total));
  }
  return terms;
}

std::string FanoutFilter(const std::vector<FanoutTerm>& terms) {
  const auto format = [](std::string* out, const FanoutTerm& term) {
    absl::StrAppend(out, term.probability, ":", term.server_count);
  };
  return absl::StrCat("stochastic{", absl::StrJoin(terms, ",", format), "}");
}

absl::Status SetSchedule(const ParameterValues& values,
                         Iterations& iterations) {
  const int64_t warmup = values.Integer("warmup_iterations");
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_max_parallel_iterations(values.Integer("parallel_queries"));
  iterations.set_warmup_iterations(warmup);
  if (!values.Has("iterations")) return absl::OkStatus();
  const int64_t count = values.Integer("iterations");
  if (count <= warmup) {
    return absl::InvalidArgumentError(absl::StrCat(
        "iterations=", count, " leaves nothing to measure after ", warmup,
        " warm-up iterations; raise it or lower warmup_iterations"));
  }
  iterations.set_max_iteration_count(count);
  return absl::OkStatus();
}

absl::StatusOr<Traffic> BuildStochastic(const ParameterValues& values) {
  const absl::StatusOr<std::vector<FanoutTerm>> terms =
      ParseFanout(values.Text("fanout"), values.Integer("server_count"));
  if (!terms.ok()) return terms.status();

  Traffic traffic;
  traffic.alias = Alias(values,
                        "stochastic_{fanout}_{client_count}x{server_count}x"
                        "{parallel_queries}x{request_size}x{response_size}");
  if (values.Has("iterations")) {
    absl::StrAppend(&traffic.alias, "x", values.Text("iterations"));
  }
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "client", values.Integer("client_count"));
  AddService(body, "server", values.Integer("server_count"));
  AddRpcWithPayloads(body, "stochastic_rpc", "client", "server",
                     FanoutFilter(*terms), "");
  AddPayloadPair(body, "", values.Integer("request_size"),
                 values.Integer("response_size"));
  AddActionList(body, "client", {"run_queries"});
  if (const absl::Status status = SetSchedule(
          values, *AddRpcAction(body, "run_queries", "stochastic_rpc")
                       .mutable_iterations());
      !status.ok()) {
    return status;
  }
  AddActionList(body, "stochastic_rpc");
  if (values.Has("seed")) body.set_random_seed(values.Integer("seed"));
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

Pattern StochasticPattern() {
  return {
      .name = "stochastic",
      .summary = "queries to a random number of servers",
      .description =
          "Closed loop: each client keeps parallel_queries queries in flight. "
          "Each query draws how many servers it asks, by fanout, and asks that "
          "many different ones at once. Caches with misses, and hedged or "
          "sharded lookups, look like this. The test ends after test_duration, "
          "or after `iterations` queries per client if that is sooner.",
      .example = "stochastic:server_count=5:fanout=0.7x1+0.3x4:iterations=1000",
      .parameters = Joined(
          {{WordParameter("fanout", "0.7x1+0.3x4",
                          "How many servers a query asks: PROBABILITYxSERVERS "
                          "terms joined by '+'."),
            IntegerParameter("client_count", "1", {1, kMaxInstances},
                             "Clients."),
            IntegerParameter("server_count", "5", {1, kMaxInstances},
                             "Servers to choose from."),
            IntegerParameter("parallel_queries", "1", {1},
                             "Queries that each client has in flight."),
            IntegerParameter("iterations", "", {1},
                             "Queries of each client. Default: as many as "
                             "test_duration allows."),
            IntegerParameter("warmup_iterations", "100", {0},
                             "Queries of each client that are not measured; "
                             "part of iterations.")},
           PayloadParameters("196", "1024"),
           {IntegerParameter("seed", "", {1, 9007199254740992},
                             "Seed of all random choices. Default: a new one "
                             "for each run, kept in the result.")}}),
      .build = &BuildStochastic,
  };
}

}  // namespace distbench::test_builder
