#include "distbench/activity/random_graph.h"

#include <tuple>

#include "distbench/activity/shared_cache.h"
#include "distbench/activity/work_random.h"

namespace distbench {

RandomGraph::RandomGraph(int64_t nodes, int degree, uint64_t seed)
    : degree_(degree), offsets_(nodes + 1), sources_(nodes * degree) {
  // Draws the edges twice instead of storing them: first to count the edges to
  // each node, then to place them.
  const auto for_each_edge = [&](auto visit) {
    WorkRandom random(seed);
    for (int64_t source = 0; source < nodes; ++source) {
      for (int i = 0; i < degree; ++i) visit(source, random.Below(nodes));
    }
  };
  for_each_edge([&](int64_t, uint64_t target) { ++offsets_[target + 1]; });
  for (int64_t i = 0; i < nodes; ++i) offsets_[i + 1] += offsets_[i];
  std::vector<uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for_each_edge([&](int64_t source, uint64_t target) {
    sources_[next[target]++] = static_cast<uint32_t>(source);
  });
}

std::shared_ptr<const RandomGraph> SharedRandomGraph(int64_t nodes, int degree,
                                                     uint64_t seed) {
  using Key = std::tuple<int64_t, int, uint64_t>;
  static auto* const cache = new SharedCache<Key, RandomGraph>;
  return cache->Get({nodes, degree, seed},
                    [&] { return RandomGraph(nodes, degree, seed); });
}

}  // namespace distbench
