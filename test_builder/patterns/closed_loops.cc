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

constexpr char kClientServer[] = R"(
    services { name: "client" count: <client_count> }
    services { name: "server" count: <server_count> }
    rpc_descriptions {
      name: "client_server_rpc" client: "client" server: "server"
      request_payload_name: "request_payload"
      response_payload_name: "response_payload"
    }
    payload_descriptions { name: "request_payload" size: 196 }
    payload_descriptions { name: "response_payload" size: 262144 }
    action_lists { name: "client" action_names: "run_queries" }
    actions {
      name: "run_queries"
      rpc_name: "client_server_rpc"
      iterations {
        max_duration_us: <duration_us>
        max_parallel_iterations: <parallel_queries>
        warmup_iterations: 1000
      }
    }
    action_lists { name: "client_server_rpc" })";

constexpr char kTripartite[] = R"(
    services { name: "client" count: <client_count> }
    services { name: "index" count: <index_count> }
    services { name: "data" count: <data_count> }
    rpc_descriptions {
      name: "client_index_rpc" client: "client" server: "index"
      request_payload_name: "index_request_payload"
      response_payload_name: "index_response_payload"
    }
    rpc_descriptions {
      name: "client_data_rpc" client: "client" server: "data"
      request_payload_name: "data_request_payload"
      response_payload_name: "data_response_payload"
    }
    payload_descriptions { name: "index_request_payload" size: 196 }
    payload_descriptions { name: "index_response_payload" size: 1024 }
    payload_descriptions { name: "data_request_payload" size: 64 }
    payload_descriptions { name: "data_response_payload" size: 512 }
    action_lists { name: "client" action_names: "client_do_many_queries" }
    actions {
      name: "client_do_many_queries"
      action_list_name: "client_do_one_query"
      iterations {
        max_duration_us: <duration_us>
        warmup_iterations: 1000
      }
    }
    action_lists {
      name: "client_do_one_query"
      action_names: "client_queryindex"
      action_names: "client_querydata"
    }
    actions { name: "client_queryindex" rpc_name: "client_index_rpc" }
    actions {
      name: "client_querydata"
      rpc_name: "client_data_rpc"
      dependencies: "client_queryindex"
    }
    action_lists { name: "client_index_rpc" }
    action_lists { name: "client_data_rpc" })";

constexpr char kStochastic[] = R"(
    <random_seed>
    services { name: "client" count: <client_count> }
    services { name: "server" count: <server_count> }
    rpc_descriptions {
      name: "stochastic_rpc" client: "client" server: "server"
      fanout_filter: "<fanout_filter>"
      request_payload_name: "request_payload"
      response_payload_name: "response_payload"
    }
    payload_descriptions { name: "request_payload" size: <request_size> }
    payload_descriptions { name: "response_payload" size: <response_size> }
    action_lists { name: "client" action_names: "run_queries" }
    actions {
      name: "run_queries"
      rpc_name: "stochastic_rpc"
      iterations {
        max_duration_us: <duration_us>
        <max_iteration_count>
        max_parallel_iterations: <parallel_queries>
        warmup_iterations: <warmup_iterations>
      }
    }
    action_lists { name: "stochastic_rpc" })";

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

absl::Status CheckIterations(const ParameterValues& values) {
  const int64_t count = values.Integer("iterations");
  const int64_t warmup = values.Integer("warmup_iterations");
  if (count > warmup) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "iterations=", count, " leaves nothing to measure after ", warmup,
      " warm-up iterations; raise it or lower warmup_iterations"));
}

absl::Status DeriveStochastic(const ParameterValues& values,
                              DerivedValues& derived) {
  const absl::StatusOr<std::vector<FanoutTerm>> terms =
      ParseFanout(values.Text("fanout"), values.Integer("server_count"));
  if (!terms.ok()) return terms.status();
  derived["fanout_filter"] = FanoutFilter(*terms);
  derived["random_seed"] = values.Has("seed") ? "random_seed: <seed>" : "";
  derived["max_iteration_count"] = "";
  derived["iterations_suffix"] = "";
  if (!values.Has("iterations")) return absl::OkStatus();
  derived["max_iteration_count"] = "max_iteration_count: <iterations>";
  derived["iterations_suffix"] = "x<iterations>";
  return CheckIterations(values);
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
      .alias = "client_server_<client_count>x<server_count>x<parallel_queries>",
      .body = kClientServer,
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
      .alias = "tripartite_<client_count>x<index_count>x<data_count>",
      .body = kTripartite,
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
      .alias =
          "stochastic_<fanout>_<client_count>x<server_count>x"
          "<parallel_queries>x<request_size>x<response_size>"
          "<iterations_suffix>",
      .body = kStochastic,
      .derive = &DeriveStochastic,
  };
}

}  // namespace distbench::test_builder
