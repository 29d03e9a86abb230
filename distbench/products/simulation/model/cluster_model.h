// A fabric (proto/simulation.proto) made ready for use: defaults filled in,
// names resolved to indices, slow hosts chosen, the network laid out.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_CLUSTER_MODEL_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_CLUSTER_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// Enough for any cluster, and few enough for the model to fit into memory.
inline constexpr int kMaxSimulatedHosts = 1'000'000;

// One direction of a link.
struct LinkModel {
  // Nodes: hosts are 0 to host_count - 1, switches follow.
  int from = 0;
  int to = 0;
  double bytes_per_ns = 0;
  int64_t delay_ns = 0;
};

// Which way connections take through the network.
class PathFinder {
 public:
  virtual ~PathFinder() = default;

  // Replaces `links` (indices into ClusterModel::links) by the path from one
  // host to another one: the host's link first, then those between switches,
  // then the link to the other host. The choice among equally short paths
  // depends on the model's seed and (from, to, connection) only; the opposite
  // direction may take another one. Thread-safe.
  virtual void Find(int from_host, int to_host, uint64_t connection,
                    std::vector<int>& links) const = 0;
};

struct ClusterModel {
  // With defaults filled in, except that its stacks and activities are only
  // what was given: see CostsOfDriver().
  SimulatedFabric fabric;
  int host_count = 0;
  int switch_count = 0;
  uint64_t seed = 0;  // of slow hosts and paths

  // By host: as the graph names it, otherwise "host0", "host1", ...
  std::vector<std::string> host_names;

  // By host: how many times as long everything takes there. 1 unless slow;
  // exactly round(slow_share * host_count) hosts are.
  std::vector<double> slowness;

  // 2h is the link of host h to its switch, 2h + 1 that from the switch; those
  // between switches follow, each with its opposite direction.
  std::vector<LinkModel> links;
  std::shared_ptr<const PathFinder> paths;

  // The smallest delay of any link.
  int64_t min_delay_ns = 0;

  // By host: the node that is its switch.
  std::vector<int> switch_of_host;
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
