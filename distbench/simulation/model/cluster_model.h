// A fabric (proto/simulation.proto) made ready for use: defaults filled in,
// names resolved to indices, slow hosts chosen.

#ifndef DISTBENCH_SIMULATION_MODEL_CLUSTER_MODEL_H_
#define DISTBENCH_SIMULATION_MODEL_CLUSTER_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/simulation.pb.h"

namespace distbench {

// One direction of a link, with the queue in front of it.
struct LinkModel {
  // Nodes: hosts are 0 to host_count - 1, switches follow.
  int from = 0;
  int to = 0;
  double bytes_per_ns = 0;
  int64_t delay_ns = 0;
  int64_t queue_bytes = 0;
  int64_t ecn_bytes = 0;  // 0: marks nothing
};

// Which way connections take through the network.
class PathFinder {
 public:
  virtual ~PathFinder() = default;

  // Replaces `links` (indices into ClusterModel::links) by the path from one
  // host to another one, both directions of a connection given as such: the
  // choice among equally short paths depends on (from, to, connection) only.
  // Thread-safe.
  virtual void Find(int from_host, int to_host, uint64_t connection,
                    std::vector<int>& links) const = 0;
};

struct ClusterModel {
  SimulatedFabric fabric;  // with defaults filled in
  int host_count = 0;
  int switch_count = 0;

  // By host: how many times as long everything takes there. 1 unless slow.
  std::vector<double> slowness;

  std::vector<LinkModel> links;
  std::shared_ptr<const PathFinder> paths;

  // The smallest delay of any link.
  int64_t min_delay_ns = 0;

  // A switch at which hosts are, by host: hosts of one switch are best
  // simulated by one thread.
  std::vector<int> switch_of_host;
};

// INVALID_ARGUMENT says all that is wrong with the fabric, by path.
absl::StatusOr<ClusterModel> MakeClusterModel(const SimulatedFabric& fabric,
                                              int host_count, uint64_t seed);

// The costs of a driver's RPCs on the reference machine, or of the fabric if it
// has them. NOT_FOUND names the drivers that have any.
absl::StatusOr<StackCosts> CostsOfDriver(const SimulatedFabric& fabric,
                                         absl::string_view driver);

// Reads a fabric: text format, or by its name "topology.conf" (or ending in
// ".conf") a Slurm topology file, of which it takes switches and hosts.
absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_SIMULATION_MODEL_CLUSTER_MODEL_H_
