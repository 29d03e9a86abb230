// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Ranks the nodes of random graphs.

#ifndef DISTBENCH_ACTIVITY_PAGE_RANK_H_
#define DISTBENCH_ACTIVITY_PAGE_RANK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "distbench/activity/activity.h"

namespace distbench::activity {

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

struct PageRankOptions {
  int64_t nodes = 1;
  int degree = 1;
  int iterations = 1;  // of PageRank, in each iteration of the activity
  double damping = 0.85;

  // The number of ranks that each iteration computes, starting at a node that
  // depends on the iteration's number. Other nodes keep their initial rank. 0:
  // all.
  int64_t nodes_per_iteration = 0;

  // One graph for the process, instead of one per concurrent iteration.
  bool share_graph = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration computes the PageRank of a random graph from scratch: every
// node distributes its rank equally along its edges. Brin, Page, "The anatomy
// of a large-scale hypertextual web search engine", 1998; implemented by
// pulling along incoming edges.
class PageRank final : public Activity {
 public:
  explicit PageRank(const PageRankOptions& options);
  ~PageRank() override;

  // Each iteration of PageRank has two steps: nodes pass on their rank, then
  // they collect it.
  int step_count() const override { return 2 * options_.iterations; }
  int part_count() const override { return options_.parallelism; }
  Work DoPart(uint64_t iteration, int step, int part) override;

  // The ranks of all nodes after an iteration.
  const std::vector<float>& ranks() const { return ranks_; }

 private:
  void PassOn(bool first, Share nodes);
  void Pull(int64_t first_node, Share share);

  const PageRankOptions options_;
  const std::shared_ptr<const class RandomGraph> graph_;
  std::vector<float> ranks_;
  std::vector<float> passed_on_;  // along each edge of a node
};

std::unique_ptr<Activity> MakePageRank(const PageRankOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_PAGE_RANK_H_
