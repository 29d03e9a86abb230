// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/page_rank.h"

#include <bit>
#include <tuple>

#include "distbench/activity/shared_cache.h"
#include "distbench/base/work_random.h"

namespace distbench::activity {
namespace {

std::shared_ptr<const RandomGraph> GraphFor(const PageRankOptions& options) {
  if (options.share_graph) {
    return SharedRandomGraph(options.nodes, options.degree, options.seed);
  }
  return std::make_shared<const RandomGraph>(options.nodes, options.degree,
                                             options.seed);
}

}  // namespace

RandomGraph::RandomGraph(int64_t nodes, int degree, uint64_t seed)
    : degree_(degree), offsets_(nodes + 1), sources_(nodes * degree) {
  // Draws the edges twice instead of storing them: first to count the edges to
  // each node, then to place them.
  const auto for_each_edge = [&](auto visit) {
    base::WorkRandom random(seed);
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

PageRank::PageRank(const PageRankOptions& options)
    : options_(options),
      graph_(GraphFor(options)),
      ranks_(options.nodes),
      passed_on_(options.nodes) {}

PageRank::~PageRank() = default;

Work PageRank::DoPart(uint64_t iteration, int step, int part) {
  const bool passes_on = step % 2 == 0;
  if (passes_on) {
    PassOn(/*first=*/step == 0,
           ShareOf(options_.nodes, part, options_.parallelism));
    return {};
  }
  const int64_t pulled = options_.nodes_per_iteration == 0
                             ? options_.nodes
                             : options_.nodes_per_iteration;
  const int64_t first_node =
      pulled == options_.nodes
          ? 0
          : static_cast<int64_t>(base::WorkRandom(options_.seed, iteration)
                                     .Below(options_.nodes - pulled + 1));
  const Share share = ShareOf(pulled, part, options_.parallelism);
  Pull(first_node, share);
  if (step + 1 < step_count()) return {};
  Work work;
  // Once per iteration, however many parts it has.
  if (part == 0) work.checksum = base::WorkRandom::Mix(iteration);
  for (int64_t i = share.begin; i < share.end; ++i) {
    work.checksum += std::bit_cast<uint32_t>(ranks_[first_node + i]);
  }
  return work;
}

void PageRank::PassOn(bool first, Share nodes) {
  const float start = 1.0f / static_cast<float>(options_.nodes);
  const auto degree = static_cast<float>(graph_->degree());
  for (int64_t node = nodes.begin; node < nodes.end; ++node) {
    if (first) ranks_[node] = start;
    passed_on_[node] = ranks_[node] / degree;
  }
}

void PageRank::Pull(int64_t first_node, Share share) {
  const auto damping = static_cast<float>(options_.damping);
  const float base = (1 - damping) / static_cast<float>(options_.nodes);
  for (int64_t i = share.begin; i < share.end; ++i) {
    float sum = 0;
    for (uint32_t source : graph_->SourcesOf(first_node + i)) {
      sum += passed_on_[source];
    }
    ranks_[first_node + i] = base + damping * sum;
  }
}

std::unique_ptr<Activity> MakePageRank(const PageRankOptions& options) {
  return std::make_unique<PageRank>(options);
}

}  // namespace distbench::activity
