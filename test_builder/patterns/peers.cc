// Patterns of nodes that query each other.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/homa_workloads.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// The form of a service of node_count instances, which query each other in an
// open loop and are answered at once. `service` are more fields of the service,
// `rpc` of the RPC.
std::string PeerQueries(absl::string_view name, absl::string_view service,
                        absl::string_view fanout, absl::string_view rpc) {
  return absl::Substitute(R"(
    services { name: "$0" count: <node_count> $1 }
    action_lists { name: "$0" action_names: "$0_queries" }
    actions {
      name: "$0_queries"
      rpc_name: "$0_query"
      iterations {
        max_duration_us: <duration_us>
        open_loop_interval_ns: <interval_ns>
        open_loop_interval_distribution: "<synchronization_mode>"
        warmup_iterations: <warmup_iterations>
      }
    }
    action_lists { name: "$0_query" }
    rpc_descriptions {
      name: "$0_query" client: "$0" server: "$0"
      fanout_filter: "$2"
      $3
    })",
                          name, service, fanout, rpc);
}

constexpr char kPayloadNames[] = R"(
      request_payload_name: "request_payload"
      response_payload_name: "response_payload")";

constexpr char kPayloads[] = R"(
    payload_descriptions { name: "request_payload" size: <request_size> }
    payload_descriptions { name: "response_payload" size: <response_size> })";

// Queries every rpc_interval_us, after a warm-up of three seconds.
absl::Status DerivePeriod(const ParameterValues& values,
                          DerivedValues& derived) {
  constexpr int64_t kWarmupUs = 3'000'000;
  const int64_t interval_us = values.Integer("rpc_interval_us");
  derived["interval_ns"] = absl::StrCat(interval_us * 1000);
  derived["warmup_iterations"] = absl::StrCat(kWarmupUs / interval_us);
  return absl::OkStatus();
}

std::vector<std::string> SynchronizationModes() {
  return {"constant", "exponential", "sync_burst", "sync_burst_spread"};
}

// The parameters of periodic queries that all such patterns describe alike.
std::vector<Parameter> PeriodicPeerParameters() {
  return Joined(
      {{ExcludedBy(
           kArrivals,
           ChoiceParameter(
               "synchronization_mode", "sync_burst", SynchronizationModes(),
               "When each node sends: all at the same moments "
               "(sync_burst), one after the other within the "
               "interval (sync_burst_spread), or each by itself."))},
       PayloadParameters("1024", "1024")});
}

absl::Status DeriveGrid(const ParameterValues& values, DerivedValues& derived) {
  const int64_t x_size = values.Integer("x_size");
  const int64_t y_size = values.Integer("y_size");
  if (x_size * y_size > kMaxInstances) {
    return absl::InvalidArgumentError(
        absl::StrCat("x_size=", x_size, ", y_size=", y_size, ": the grid has ",
                     x_size * y_size, " nodes; at most ",
                     static_cast<int64_t>(kMaxInstances), " are possible"));
  }
  derived["node_count"] = absl::StrCat(x_size * y_size);
  return DerivePeriod(values, derived);
}

// The interval at which messages of this mean size make `gbps` per node. Every
// message is sent twice, because a response is as large as its request.
int64_t IntervalNs(double mean_bytes, double gbps) {
  constexpr double kBitsPerByte = 8;
  return 2 * static_cast<int64_t>(std::ceil(mean_bytes * kBitsPerByte / gbps));
}

absl::Status DeriveHomaMessages(const ParameterValues& values,
                                DerivedValues& derived) {
  const MessageSizeCdf sizes = HomaMessageSizes(
      values.Text("workload"),
      {.max_message_bytes = values.Integer("max_message_length"),
       .min_bucket_fraction = values.Number("min_bucket_frac"),
       .max_size_ratio = values.Number("max_size_ratio")});
  derived["interval_ns"] =
      absl::StrCat(IntervalNs(sizes.mean_bytes, values.Number("gbps")));
  derived["warmup_iterations"] = "1500";
  for (const MessageSizeCdf::Point& point : sizes.points) {
    absl::StrAppendFormat(&derived["cdf_points"],
                          "cdf_points { value: %d cdf: %.17g }\n", point.bytes,
                          point.cdf);
  }
  return absl::OkStatus();
}

constexpr char kHomaMessages[] = R"(
    distribution_config {
      name: "dist_config"
      field_names: "payload_size"
      <cdf_points>
    }
    overload_limits { max_pending_rpcs: 5000 })";

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
          Joined({{IntegerParameter("rpc_interval_us", "16000", {100},
                                    "Microseconds between the "
                                    "bursts.",
                                    Unit::kMicroseconds),
                   IntegerParameter("node_count", "10", {2, kMaxInstances},
                                    "Nodes that exchange messages.")},
                  PeriodicPeerParameters()}),
      .alias =
          "clique_<arrivals>_<node_count>x<rpc_interval_us>x"
          "<request_size>x<response_size>",
      .body = absl::StrCat(PeerQueries("clique", "", "all", kPayloadNames),
                           kPayloads),
      .derive = &DerivePeriod,
  };
}

Pattern RectangularPattern() {
  return {
      .name = "rectangular",
      .summary = "nodes on a grid that query neighbours",
      .description =
          "Nodes stand on a grid of x_size by y_size. At every interval each "
          "node queries the nodes that fanout_filter selects: the next one in "
          "its row (ring_x), its whole column (same_x) and so on. Halo "
          "exchanges and ring reductions look like this.",
      .example = "rectangular:x_size=3:y_size=2:fanout_filter=same_y",
      .parameters = Joined(
          {{IntegerParameter("rpc_interval_us", "100000", {100},
                             "Microseconds between the queries "
                             "of a node.",
                             Unit::kMicroseconds),
            IntegerParameter("x_size", "5", {1, kMaxInstances},
                             "Nodes along the x axis."),
            IntegerParameter("y_size", "3", {1, kMaxInstances},
                             "Nodes along the y axis.")},
           PeriodicPeerParameters(),
           {WordParameter("fanout_filter", "ring_x",
                          "The nodes to query: all, random, round_robin, "
                          "same_x, same_y, ring_x, ring_y, "
                          "alternating_ring_x, linear_x{1}, ..."),
            IntegerParameter("tracing_interval", "0", {0},
                             "Trace every n-th query of a node; 0: none.")}}),
      .alias =
          "rectangular_<fanout_filter>_<arrivals>_<x_size>x<y_size>x"
          "<rpc_interval_us>x<request_size>x<response_size>",
      .body = absl::StrCat(
          PeerQueries("rectangular", "x_size: <x_size> y_size: <y_size>",
                      "<fanout_filter>",
                      absl::StrCat("tracing_interval: <tracing_interval>",
                                   kPayloadNames)),
          kPayloads),
      .derive = &DeriveGrid,
  };
}

Pattern HomaCpNodePattern() {
  return {
      .name = "homa_cp_node",
      .summary = "peers with message sizes of data centres",
      .description =
          "Open loop: each node sends messages to random peers, which answer "
          "with a message of the same size, at the rate that makes gbps per "
          "node. Sizes follow one of the five workloads of the Homa paper "
          "(SIGCOMM 2018), from w1, with nothing but small messages, to w5, "
          "where large ones carry nearly all the bytes.",
      .example = "homa_cp_node:node_count=3:workload=w3:gbps=0.1",
      .parameters =
          {NumberParameter("gbps", "1", {1e-6, 1e6},
                           "Gigabits per second of each node."),
           IntegerParameter("node_count", "10", {2, kMaxInstances},
                            "Nodes that exchange messages."),
           ExcludedBy(kArrivals,
                      ChoiceParameter(
                          "synchronization_mode", "exponential",
                          SynchronizationModes(),
                          "When each node sends: at random (exponential), at "
                          "constant intervals, or all at the same moments.")),
           ChoiceParameter("workload", "w5", HomaWorkloadNames(),
                           "The distribution of message sizes."),
           IntegerParameter("max_message_length", "1000000", {1},
                            "Bytes; larger messages are cut to this.",
                            Unit::kBytes),
           NumberParameter("min_bucket_frac", "0.0025", {0, 1},
                           "Sizes are merged until they make up this share of "
                           "the messages ..."),
           NumberParameter("max_size_ratio", "1.2", {1, 1e6},
                           "... or until the next size is larger by this "
                           "factor.")},
      .alias =
          "homa_cp_node_<arrivals>_<node_count>x<gbps>x<workload>x"
          "<max_message_length>x<min_bucket_frac>x<max_size_ratio>",
      .body = absl::StrCat(
          PeerQueries("clique", "", "random",
                      R"(distribution_config_name: "dist_config")"),
          kHomaMessages),
      .derive = &DeriveHomaMessages,
  };
}

}  // namespace distbench::test_builder
