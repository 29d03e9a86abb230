// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A fabric (proto/simulation.proto) made ready for use: defaults filled in,
// names resolved to indices, slow hosts chosen, the network laid out.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_CLUSTER_MODEL_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_CLUSTER_MODEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Enough for any cluster, and few enough for the model to fit into memory.
inline constexpr int kMaxSimulatedHosts = 1'000'000;

// The link of a host to its switch: in each direction a queue of this rate.
struct HostLink {
  double bytes_per_ns = 0;
  int64_t delay_ns = 0;
};

// How long the links between the switches of two hosts, which have no queues,
// delay what one sends to the other: those of the shortest path. The choice
// among equally short ones depends on the model's seed and the arguments only;
// the opposite direction may take another one. Thread-safe.
using SwitchDelay =
    std::function<int64_t(int from_host, int to_host, uint64_t connection)>;

struct ClusterModel {
  // With defaults filled in, except that its stacks and activities are only
  // what was given: see CostsOfDriver().
  SimulatedFabric fabric;
  int host_count = 0;
  uint64_t seed = 0;  // of slow hosts and paths

  // By host: as the graph names it, otherwise "host0", "host1", ...
  std::vector<std::string> host_names;

  // By host: how many times as long everything takes there. 1 unless slow;
  // exactly round(slow_share * host_count) hosts are.
  std::vector<double> slowness;

  std::vector<HostLink> host_links;  // by host
  SwitchDelay switch_delay_ns;
};

// A graph must have at least host_count hosts; the first ones, in the order of
// its switches, are simulated. INVALID_ARGUMENT says all that is wrong with the
// fabric, one problem per line, by path ("host.cpus: 0 is out of range; ...").
absl::StatusOr<ClusterModel> MakeClusterModel(const SimulatedFabric& fabric,
                                              int host_count, uint64_t seed);

// Reads a fabric: text format, YAML or JSON. Errors name the file and the line,
// and say all that is wrong with the fabric, whatever is simulated on it.
absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path);

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_CLUSTER_MODEL_H_
