#include "test_builder/patterns/patterns.h"

#include "absl/strings/str_cat.h"
#include "test_builder/parameters/arrivals_text.h"
#include "test_builder/patterns/peer_traffic.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

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
  traffic.alias = absl::StrCat(
      "rectangular_", values.Text("fanout_filter"), "_", ArrivalsName(values),
      "_", values.Text("x_size"), "x", values.Text("y_size"), "x",
      values.Text("rpc_interval_us"), "x", values.Text("request_size"), "x",
      values.Text("response_size"));
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

}  // namespace

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
      .parameters =
          {InMicroseconds(IntegerParameter("rpc_interval_us", "100000", {100},
                                           "Microseconds between the queries "
                                           "of a node.")),
           IntegerParameter("x_size", "5", {1, kMaxInstances},
                            "Nodes along the x axis."),
           IntegerParameter("y_size", "3", {1, kMaxInstances},
                            "Nodes along the y axis."),
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
                                    "Bytes per response.")),
           WordParameter("fanout_filter", "ring_x",
                         "The nodes to query: all, random, round_robin, "
                         "same_x, same_y, ring_x, ring_y, "
                         "alternating_ring_x, linear_x{1}, ..."),
           IntegerParameter("tracing_interval", "0", {0},
                            "Trace every n-th query of a node; 0: none.")},
      .build = &BuildRectangular,
  };
}

}  // namespace distbench::test_builder
