#include "distbench/products/simulation/model/graph_paths.h"

#include "distbench/products/simulation/model/layouts.h"

namespace distbench::simulation {

GraphPaths::GraphPaths(const ClusterModel& model, int first_link) {
  AddWays(model, first_link);
  distances_.resize(model.switch_count);
  switch_of_host_.reserve(model.host_count);
  for (const int node : model.switch_of_host) {
    const int at = node - model.host_count;
    switch_of_host_.push_back(at);
    if (distances_[at].empty()) distances_[at] = DistancesTo(at);
  }
}

void GraphPaths::AddWays(const ClusterModel& model, int first_link) {
  const int link_count = static_cast<int>(model.links.size());
  first_way_.assign(model.switch_count + 1, 0);
  for (int i = first_link; i < link_count; ++i) {
    ++first_way_[model.links[i].from - model.host_count + 1];
  }
  for (int i = 0; i < model.switch_count; ++i) {
    first_way_[i + 1] += first_way_[i];
  }
  ways_.resize(link_count - first_link);
  std::vector<int> next = first_way_;
  for (int i = first_link; i < link_count; ++i) {
    ways_[next[model.links[i].from - model.host_count]++] = {
        .to = model.links[i].to - model.host_count, .link = i};
  }
}

// Breadth first. Links lead both ways, so that the distances from a switch are
// those to it.
std::vector<uint16_t> GraphPaths::DistancesTo(int switch_index) const {
  std::vector<uint16_t> distances(first_way_.size() - 1, kFar);
  std::vector<int> reached = {switch_index};
  distances[switch_index] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const int at = reached[i];
    for (int way = first_way_[at]; way < first_way_[at + 1]; ++way) {
      const int to = ways_[way].to;
      if (distances[to] != kFar) continue;
      distances[to] = distances[at] + 1;
      reached.push_back(to);
    }
  }
  return distances;
}

const GraphPaths::Way& GraphPaths::NextWay(
    int at, const std::vector<uint16_t>& distances, uint64_t flow) const {
  const auto leads_closer = [&](const Way& way) {
    return distances[way.to] < distances[at];
  };
  int count = 0;
  for (int way = first_way_[at]; way < first_way_[at + 1]; ++way) {
    count += leads_closer(ways_[way]);
  }
  int chosen = ChooseByHash(activity::WorkRandom::Mix(flow + at), count);
  int way = first_way_[at];
  for (;; ++way) {
    if (leads_closer(ways_[way]) && chosen-- == 0) return ways_[way];
  }
}

void GraphPaths::Find(int from_host, int to_host, uint64_t connection,
                      std::vector<int>& links) const {
  const uint64_t flow = FlowHash(from_host, to_host, connection);
  const int destination = switch_of_host_[to_host];
  links.assign({LinkFromHost(from_host)});
  for (int at = switch_of_host_[from_host]; at != destination;) {
    const Way& way = NextWay(at, distances_[destination], flow);
    links.push_back(way.link);
    at = way.to;
  }
  links.push_back(LinkToHost(to_host));
}

bool GraphPaths::AreConnected(int from_host, int to_host) const {
  return distances_[switch_of_host_[to_host]][switch_of_host_[from_host]] !=
         kFar;
}

}  // namespace distbench::simulation
