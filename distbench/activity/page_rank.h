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

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_PAGE_RANK_H_
