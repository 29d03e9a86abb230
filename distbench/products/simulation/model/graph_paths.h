#ifndef DISTBENCH_PRODUCTS_SIMULATION_MODEL_GRAPH_PATHS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_MODEL_GRAPH_PATHS_H_

#include <cstdint>
#include <vector>

#include "distbench/products/simulation/model/cluster_model.h"

namespace distbench::simulation {

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
  std::vector<int> first_way_;
  std::vector<Way> ways_;
  std::vector<int> switch_of_host_;
  std::vector<std::vector<uint16_t>> distances_;  // empty without hosts
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_MODEL_GRAPH_PATHS_H_
