#ifndef DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_
#define DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace distbench {

// A directed graph in which every node has as many edges to nodes drawn
// uniformly; an edge may be drawn twice, or lead back. Immutable.
class RandomGraph {
 public:
  // nodes: 1 to 2^31; degree: at least 1.
  RandomGraph(int64_t nodes, int degree, uint64_t seed);

  int64_t node_count() const {
    return static_cast<int64_t>(offsets_.size()) - 1;
  }

  // Edges from each node.
  int degree() const { return degree_; }

  // Where the edges to a node come from.
  absl::Span<const uint32_t> SourcesOf(int64_t node) const {
    return absl::MakeConstSpan(sources_.data() + offsets_[node],
                               offsets_[node + 1] - offsets_[node]);
  }

 private:
  int degree_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sources_;  // by target
};

// One graph for all that have it at the same time. Thread-safe.
std::shared_ptr<const RandomGraph> SharedRandomGraph(int64_t nodes, int degree,
                                                     uint64_t seed);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_RANDOM_GRAPH_H_
