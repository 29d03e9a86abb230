#ifndef DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_
#define DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace distbench {

// A directed graph in which every node has `degree` edges to nodes drawn
// uniformly. Edges may repeat or lead to the node itself. Immutable.
class RandomGraph {
 public:
  // nodes must be from 1 to 2^31, and degree at least 1.
  RandomGraph(int64_t nodes, int degree, uint64_t seed);

  int64_t node_count() const {
    return static_cast<int64_t>(offsets_.size()) - 1;
  }

  // The number of edges from each node.
  int degree() const { return degree_; }

  // The sources of the edges to a node.
  absl::Span<const uint32_t> SourcesOf(int64_t node) const {
    return absl::MakeConstSpan(sources_.data() + offsets_[node],
                               offsets_[node + 1] - offsets_[node]);
  }

 private:
  int degree_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sources_;  // by target
};

// Returns a graph that concurrent users of equal arguments share. Thread-safe.
std::shared_ptr<const RandomGraph> SharedRandomGraph(int64_t nodes, int degree,
                                                     uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_
