#include "distbench/activity/pollute_data_cache.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "absl/random/distributions.h"

namespace distbench {
namespace {

class PolluteDataCache final : public Activity {
 public:
  PolluteDataCache(int64_t array_size, int64_t reads_per_iteration,
                   uint64_t seed)
      : reads_per_iteration_(reads_per_iteration),
        random_(seed),
        array_(array_size) {
    // Written once, so that every page is memory of its own.
    std::generate(array_.begin(), array_.end(), std::ref(random_));
  }

  void RunIteration() override {
    for (int64_t i = 0; i < reads_per_iteration_; ++i) {
      checksum_ += array_[absl::Uniform<size_t>(random_, 0, array_.size())];
    }
  }

  uint64_t checksum() const override { return checksum_; }

 private:
  const int64_t reads_per_iteration_;
  std::mt19937_64 random_;
  std::vector<uint64_t> array_;
  uint64_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<Activity> MakePolluteDataCache(int64_t array_size,
                                               int64_t reads_per_iteration,
                                               uint64_t seed) {
  return std::make_unique<PolluteDataCache>(array_size, reads_per_iteration,
                                            seed);
}

}  // namespace distbench
