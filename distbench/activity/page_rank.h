#ifndef DISTBENCH_ACTIVITY_PAGE_RANK_H_
#define DISTBENCH_ACTIVITY_PAGE_RANK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "distbench/activity/activity.h"

namespace distbench {

struct PageRankOptions {
  int64_t nodes = 1;
  int degree = 1;
  int iterations = 1;  // of PageRank, in each of the activity's
  double damping = 0.85;

  // Ranks that each iteration computes, from a node on that depends on its
  // number; the others keep their first value. 0: all.
  int64_t nodes_per_iteration = 0;

  // One graph for the process, instead of one for each iteration at a time.
  bool share_graph = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Each iteration computes PageRank of a random graph from the start: every node
// passes its rank on in equal parts along its edges. Brin, Page, "The anatomy
// of a large-scale hypertextual web search engine", 1998; pulled along incoming
// edges.
class PageRank final : public Activity {
 public:
  explicit PageRank(const PageRankOptions& options);
  ~PageRank() override;

  // For each iteration of PageRank: what nodes pass on, then what they get.
  int step_count() const override { return 2 * options_.iterations; }
  int part_count() const override { return options_.parallelism; }
  Work DoPart(uint64_t iteration, int step, int part) override;

  // Of all nodes, after an iteration.
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

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_PAGE_RANK_H_
