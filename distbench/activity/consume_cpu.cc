#include "distbench/activity/consume_cpu.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace distbench {
namespace {

class ConsumeCpu final : public Activity {
 public:
  ConsumeCpu(int64_t array_size, uint64_t seed)
      : random_(seed), array_(array_size) {}

  void RunIteration() override {
    std::generate(array_.begin(), array_.end(), std::ref(random_));
    std::sort(array_.begin(), array_.end());
    // Weighted by position, so that the sum depends on the order.
    uint64_t weight = 1;
    for (uint64_t value : array_) checksum_ += value * weight++;
  }

  uint64_t checksum() const override { return checksum_; }

 private:
  std::mt19937_64 random_;
  std::vector<uint64_t> array_;
  uint64_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<Activity> MakeConsumeCpu(int64_t array_size, uint64_t seed) {
  return std::make_unique<ConsumeCpu>(array_size, seed);
}

}  // namespace distbench
