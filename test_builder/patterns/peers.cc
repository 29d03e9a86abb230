// Patterns of nodes that query each other.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/homa_workloads.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

struct PeerQueries {
  absl::string_view service;
  absl::string_view fanout;
  int64_t interval_ns = 0;  // between the queries of an instance
  int64_t warmup_iterations = 0;
};

// Adds a service whose instances query each other in an open loop, with the
// action "SERVICE_queries" and the RPC "SERVICE_query", which is answered at
// once and returned. Uses the parameters synchronization_mode and
// test_duration.
RpcSpec& AddPeerQueries(DistributedSystemDescription& test,
                        const ParameterValues& values,
                        const PeerQueries& queries) {
  const std::string action_name = absl::StrCat(queries.service, "_queries");
  const std::string rpc_name = absl::StrCat(queries.service, "_query");
  AddActionList(test, queries.service, {action_name});
  Iterations& iterations =
      *AddRpcAction(test, action_name, rpc_name).mutable_iterations();
  iterations.set_max_duration_us(TestDurationUs(values));
  iterations.set_open_loop_interval_ns(queries.interval_ns);
  iterations.set_open_loop_interval_distribution(
      values.Text("synchronization_mode"));
  iterations.set_warmup_iterations(queries.warmup_iterations);
  AddActionList(test, rpc_name);
  return AddRpc(test, rpc_name, queries.service, queries.service,
                queries.fanout);
}

// Same, with payloads and timing from the parameters rpc_interval_us,
// request_size and response_size, and a warm-up of three seconds.
RpcSpec& AddPeriodicPeerQueries(DistributedSystemDescription& test,
                                const ParameterValues& values,
                                absl::string_view service,
                                absl::string_view fanout) {
  constexpr int64_t kWarmupUs = 3'000'000;
  const int64_t interval_us = values.Integer("rpc_interval_us");
  RpcSpec& rpc = AddPeerQueries(test, values,
                                {.service = service,
                                 .fanout = fanout,
                                 .interval_ns = interval_us * 1000,
                                 .warmup_iterations = kWarmupUs / interval_us});
  rpc.set_request_payload_name("request_payload");
  rpc.set_response_payload_name("response_payload");
  AddPayloadPair(test, "", values.Integer("request_size"),
                 values.Integer("response_size"));
  return rpc;
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

absl::StatusOr<Traffic> BuildClique(const ParameterValues& values) {
  Traffic traffic;
  traffic.alias = Alias(values,
                        "clique_{arrivals}_{node_count}x{rpc_interval_us}x"
                        "{request_size}x{response_size}");
  AddService(traffic.body, "clique", values.Integer("node_count"));
  AddPeriodicPeerQueries(traffic.body, values, "clique", "all");
  return traffic;
}

absl::StatusOr<Traffic> BuildRectangular(const ParameterValues& values) {
  const int64_t x_size = values.Integer("x_size");
  const int64_t y_size = values.Integer("y_size");
  if (x_size * y_size > kMaxInstances) {
    return absl::InvalidArgumentError(
        absl::StrCat("x_size=", x_size, ", y_size=", y_size, ": the grid has ",
                     x_size * y_size, " nodes; at most ",
                     static_cast<int64_t>(kMaxInstances), " are possible"));
  }
  Traffic traffic;
  traffic.alias =
      Alias(values,
            "rectangular_{fanout_filter}_{arrivals}_{x_size}x{y_size}x"
            "{rpc_interval_us}x{request_size}x{response_size}");
  ServiceSpec& service =
      AddService(traffic.body, "rectangular", x_size * y_size);
  service.set_x_size(static_cast<int32_t>(x_size));
  service.set_y_size(static_cast<int32_t>(y_size));
  RpcSpec& rpc = AddPeriodicPeerQueries(traffic.body, values, "rectangular",
                                        values.Text("fanout_filter"));
  rpc.set_tracing_interval(
      static_cast<int32_t>(values.Integer("tracing_interval")));
  return traffic;
}

constexpr int64_t kHomaWarmupIterations = 1500;
constexpr int64_t kMaxPendingRpcs = 5000;

// The interval at which messages of this mean size make `gbps` per node. Every
// message is sent twice, because a response is as large as its request.
int64_t IntervalNs(double mean_bytes, double gbps) {
  constexpr double kBitsPerByte = 8;
  return 2 * static_cast<int64_t>(std::ceil(mean_bytes * kBitsPerByte / gbps));
}

void AddSizes(DistributedSystemDescription& body, absl::string_view name,
              const MessageSizeCdf& sizes) {
  DistributionConfig& distribution = *body.add_distribution_config();
  distribution.set_name(std::string(name));
  distribution.add_field_names("payload_size");
  for (const MessageSizeCdf::Point& point : sizes.points) {
    CdfPoint& cdf_point = *distribution.add_cdf_points();
    cdf_point.set_value(point.bytes);
    cdf_point.set_cdf(static_cast<float>(point.cdf));
  }
}

absl::StatusOr<Traffic> BuildHomaCpNode(const ParameterValues& values) {
  const MessageSizeCdf sizes = HomaMessageSizes(
      values.Text("workload"),
      {.max_message_bytes = values.Integer("max_message_length"),
       .min_bucket_fraction = values.Number("min_bucket_frac"),
       .max_size_ratio = values.Number("max_size_ratio")});
  Traffic traffic;
  traffic.alias =
      Alias(values,
            "homa_cp_node_{arrivals}_{node_count}x{gbps}x{workload}x"
            "{max_message_length}x{min_bucket_frac}x{max_size_ratio}");
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "clique", values.Integer("node_count"));
  AddPeerQueries(
      body, values,
      {.service = "clique",
       .fanout = "random",
       .interval_ns = IntervalNs(sizes.mean_bytes, values.Number("gbps")),
       .warmup_iterations = kHomaWarmupIterations})
      .set_distribution_config_name("dist_config");
  AddSizes(body, "dist_config", sizes);
  body.mutable_overload_limits()->set_max_pending_rpcs(kMaxPendingRpcs);
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
      .parameters = Joined(
          {{InMicroseconds(IntegerParameter("rpc_interval_us", "16000", {100},
                                            "Microseconds between the "
                                            "bursts.")),
            IntegerParameter("node_count", "10", {2, kMaxInstances},
                             "Nodes that exchange messages.")},
           PeriodicPeerParameters()}),
      .build = &BuildClique,
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
          {{InMicroseconds(IntegerParameter("rpc_interval_us", "100000", {100},
                                            "Microseconds between the queries "
                                            "of a node.")),
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
      .build = &BuildRectangular,
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
           InBytes(IntegerParameter("max_message_length", "1000000", {1},
                                    "Bytes; larger messages are cut to this.")),
           NumberParameter("min_bucket_frac", "0.0025", {0, 1},
                           "Sizes are merged until they make up this share of "
                           "the messages ..."),
           NumberParameter("max_size_ratio", "1.2", {1, 1e6},
                           "... or until the next size is larger by this "
                           "factor.")},
      .build = &BuildHomaCpNode,
  };
}

}  // namespace distbench::test_builder
