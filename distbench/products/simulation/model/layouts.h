// The links of a fabric's network, and the paths through them. All layouts
// number the links of hosts alike: 2h is that of host h to its switch, 2h + 1
// that from the switch.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_LAYOUTS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_LAYOUTS_H_

#include <cstdint>
#include <vector>

#include "distbench/base/work_random.h"
#include "distbench/config/problems/problem.h"
#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {

// Each fills in everything of the model that concerns the network (links,
// paths, switches, and names of hosts if it has them). Requires that the
// model's fabric has passed CheckFabric() and its host_count is positive.
void LayOutSingleSwitch(ClusterModel& model);
void LayOutLeafSpine(ClusterModel& model, config::Problems& problems);
void LayOutGraph(ClusterModel& model, config::Problems& problems);

// Adds both directions of a link.
void AddLink(const SimulatedLink& link, int from, int to, ClusterModel& model);

// Adds the next host, at a switch (a node).
void AddHost(const SimulatedLink& link, int switch_node, ClusterModel& model);

inline int LinkFromHost(int host) { return 2 * host; }
inline int LinkToHost(int host) { return 2 * host + 1; }

// A number that looks random, of one direction of a connection.
inline uint64_t FlowHash(uint64_t seed, int from_host, int to_host,
                         uint64_t connection) {
  const uint64_t hosts =
      (static_cast<uint64_t>(from_host) << 32) | static_cast<uint32_t>(to_host);
  return base::WorkRandom(seed, hosts, connection)();
}

// Maps a hash evenly to the numbers below `count`.
inline int ChooseByHash(uint64_t hash, int count) {
  return static_cast<int>((static_cast<unsigned __int128>(hash) * count) >> 64);
}

// Shortest paths between the switches of a graph. At each switch, a hash of the
// flow and the switch chooses among the links that lead closer, as routers do
// (RFC 2992). Memory: two bytes for each pair of a switch and a switch with
// hosts.
class GraphPaths : public PathFinder {
 public:
  // Of a model whose hosts and links are complete; links between switches start
  // at first_link.
  GraphPaths(const ClusterModel& model, int first_link);

  // Requires AreConnected(from_host, to_host).
  void Find(int from_host, int to_host, uint64_t connection,
            std::vector<int>& links) const override;

  bool AreConnected(int from_host, int to_host) const;

 private:
  static constexpr uint16_t kFar = UINT16_MAX;

  struct Way {
    int to;    // a switch
    int link;  // that leads there
  };

  void AddWays(const ClusterModel& model, int first_link);
  // The numbers of links from each switch to this one.
  std::vector<uint16_t> DistancesTo(int switch_index) const;
  // The way to take at a switch, given the distances to the destination.
  const Way& NextWay(int at, const std::vector<uint16_t>& distances,
                     uint64_t flow) const;

  // Switches are numbered from 0 here. The ways of switch s are those from
  // first_way_[s] to first_way_[s + 1] - 1.
  const uint64_t seed_;
  std::vector<int> first_way_;
  std::vector<Way> ways_;
  std::vector<int> switch_of_host_;
  std::vector<std::vector<uint16_t>> distances_;  // empty without hosts
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_LAYOUTS_H_
