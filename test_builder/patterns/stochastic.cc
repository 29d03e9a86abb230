#include "test_builder/patterns/patterns.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "test_builder/parameters/common_parameters.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

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

std::string StochasticAlias(const ParameterValues& values) {
  std::string alias = absl::StrCat(
      "stochastic_", values.Text("fanout"), "_", values.Text("client_count"),
      "x", values.Text("server_count"), "x", values.Text("parallel_queries"),
      "x", values.Text("request_size"), "x", values.Text("response_size"));
  if (values.Has("iterations")) {
    absl::StrAppend(&alias, "x", values.Text("iterations"));
  }
  return alias;
}

absl::StatusOr<Traffic> BuildStochastic(const ParameterValues& values) {
  const absl::StatusOr<std::vector<FanoutTerm>> terms =
      ParseFanout(values.Text("fanout"), values.Integer("server_count"));
  if (!terms.ok()) return terms.status();

  Traffic traffic;
  traffic.alias = StochasticAlias(values);
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
      .parameters =
          {WordParameter("fanout", "0.7x1+0.3x4",
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
                            "part of iterations."),
           InBytes(IntegerParameter("request_size", "196", {0},
                                    "Bytes per request.")),
           InBytes(IntegerParameter("response_size", "1024", {0},
                                    "Bytes per response.")),
           IntegerParameter("seed", "", {1, 9007199254740992},
                            "Seed of all random choices. Default: a new one "
                            "for each run, kept in the result.")},
      .build = &BuildStochastic,
  };
}

}  // namespace distbench::test_builder
