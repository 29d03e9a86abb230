#include "test_builder/patterns/patterns.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/patterns/peer_traffic.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

absl::StatusOr<Traffic> BuildClique(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias = absl::StrCat(
      "clique_", ArrivalsName(values), "_", values.Text("node_count"), "x",
      values.Text("rpc_interval_us"), "x", values.Text("request_size"), "x",
      values.Text("response_size"));
  AddService(traffic.body, "clique", values.Integer("node_count"));
  AddPeriodicPeerQueries(traffic.body, values, "clique", "all");
  return traffic;
}

}  // namespace

Pattern CliquePattern() {
  return {
      .name = "clique",
      .summary = "all-to-all bursts, all at the same moments",
      .description =
          "At every interval each node sends one request to every other node. "
          "With N nodes that is a burst of N*(N-1) RPCs, as in the exchange "
          "step of a parallel computation: the step is as fast as its slowest "
          "RPC.",
      .example = "clique:node_count=4:rpc_interval_us=10000",
      .parameters =
          {InMicroseconds(IntegerParameter("rpc_interval_us", "16000", {100},
                                           "Microseconds between the bursts.")),
           IntegerParameter("node_count", "10", {2, kMaxInstances},
                            "Nodes that exchange messages."),
           ExcludedBy(
               kArrivals,
               ChoiceParameter(
                   "synchronization_mode", "sync_burst", SynchronizationModes(),
                   "When each node sends: all at the same moments "
                   "(sync_burst), one after the other within the "
                   "interval (sync_burst_spread), or each by itself.")),
           InBytes(IntegerParameter("request_size", "1024", {0},
                                    "Bytes per request.")),
           InBytes(IntegerParameter("response_size", "1024", {0},
                                    "Bytes per response."))},
      .build = &BuildClique,
  };
}

}  // namespace distbench::test_builder
