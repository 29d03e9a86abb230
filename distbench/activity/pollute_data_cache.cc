#include "distbench/activity/pollute_data_cache.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "distbench/activity/work_random.h"

namespace distbench {
namespace {

class PolluteDataCache final : public Activity {
 public:
  PolluteDataCache(int64_t array_size, int64_t reads_per_iteration,
                   uint64_t seed)
      : reads_per_iteration_(reads_per_iteration),
        seed_(seed),
        array_(array_size) {
    // Write every page, so that each has its own memory.
    WorkRandom random(seed);
    std::generate(array_.begin(), array_.end(), std::ref(random));
  }

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    WorkRandom random(seed_, iteration);
    Work work;
    for (int64_t i = 0; i < reads_per_iteration_; ++i) {
      work.checksum += array_[random.Below(array_.size())];
    }
    return work;
  }

 private:
  const int64_t reads_per_iteration_;
  const uint64_t seed_;
  std::vector<uint64_t> array_;
};

}  // namespace

std::unique_ptr<Activity> MakePolluteDataCache(int64_t array_size,
                                               int64_t reads_per_iteration,
                                               uint64_t seed) {
  return std::make_unique<PolluteDataCache>(array_size, reads_per_iteration,
                                            seed);
}

}  // namespace distbench
