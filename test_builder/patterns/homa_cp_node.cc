#include "test_builder/patterns/patterns.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/patterns/homa_workloads.h"
#include "test_builder/patterns/peer_traffic.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

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
  traffic.alias = absl::StrCat(
      "homa_cp_node_", ArrivalsName(values), "_", values.Text("node_count"),
      "x", values.Text("gbps"), "x", values.Text("workload"), "x",
      values.Text("max_message_length"), "x", values.Text("min_bucket_frac"),
      "x", values.Text("max_size_ratio"));
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
