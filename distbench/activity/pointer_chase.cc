#include "distbench/activity/pointer_chase.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

struct alignas(64) LinkedLine {
  uint64_t next;
};

class PointerChase final : public Activity {
 public:
  explicit PointerChase(const PointerChaseOptions& options)
      : options_(options),
        lines_(std::max<int64_t>(
            1, options.bytes / static_cast<int64_t>(sizeof(LinkedLine)))) {
    const std::vector<uint64_t> cycle =
        RandomCycle(static_cast<int64_t>(lines_.size()), options.seed);
    for (size_t i = 0; i < lines_.size(); ++i) lines_[i].next = cycle[i];
  }

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    uint64_t line =
        WorkRandom(options_.seed, iteration, part).Below(lines_.size());
    Work work;
    work.checksum = WorkRandom::Mix(iteration);
    const int64_t hops =
        ShareOf(options_.hops, part, options_.parallelism).size();
    for (int64_t i = 0; i < hops; ++i) {
      line = lines_[line].next;
      work.checksum += line;
    }
    return work;
  }

 private:
  const PointerChaseOptions options_;
  std::vector<LinkedLine> lines_;
};

}  // namespace

std::vector<uint64_t> RandomCycle(int64_t count, uint64_t seed) {
  std::vector<uint64_t> next(count);
  std::iota(next.begin(), next.end(), 0);
  WorkRandom random(seed);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(next[i], next[random.Below(i)]);
  }
  return next;
}

std::unique_ptr<Activity> MakePointerChase(const PointerChaseOptions& options) {
  return std::make_unique<PointerChase>(options);
}

}  // namespace distbench::activity
