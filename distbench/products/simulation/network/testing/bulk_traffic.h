// Traffic of which theory knows the outcome, for tests and for the tables of
// docs/products/simulation_network.md.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_BULK_TRAFFIC_H_
#define DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_BULK_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/products/simulation/network/network.h"
#include "distbench/products/simulation/network/packet_network.h"

namespace distbench::simulation {

struct BulkFlow {
  int from_host = 0;
  int to_host = 0;
  uint64_t connection = 0;
};

struct BulkOptions {
  std::vector<BulkFlow> flows;
  RandomLoss loss;
  // Figures are of the time from `warmup_ns` to `end_ns`.
  int64_t warmup_ns = 0;
  int64_t end_ns = 0;
  // The link whose queue is looked at every microsecond. Negative: none.
  int watched_link = -1;
};

struct BulkFigures {
  std::vector<double> bytes_per_ns;  // by flow, without headers
  double total_bytes_per_ns = 0;
  std::vector<double> queue_bytes;  // ascending
  SimulatedNetworkCounters counters;
};

// Flows that always have something to send.
BulkFigures RunBulkFlows(const ClusterModel& model, const BulkOptions& options);

struct IncastOptions {
  int servers = 1;
  int64_t bytes_per_server = 0;
  int rounds = 1;
};

struct IncastFigures {
  // What the client got, without headers.
  double bytes_per_ns = 0;
  SimulatedNetworkCounters counters;
};

// Host 0 asks hosts 1 to `servers` for bytes_per_server each, at the same time,
// and asks again when it has got everything.
IncastFigures RunIncast(const ClusterModel& model,
                        const IncastOptions& options);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_NETWORK_TESTING_BULK_TRAFFIC_H_
