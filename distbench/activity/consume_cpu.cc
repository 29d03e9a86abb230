#include "distbench/activity/consume_cpu.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "distbench/activity/work_random.h"
#include "distbench/base/cpu_time.h"

namespace distbench::activity {
namespace {

class SpinFor final : public Activity {
 public:
  explicit SpinFor(int64_t duration_ns) : duration_ns_(duration_ns) {}

  // There is no checksum, because the number of clock readings is meaningless.
  Work DoPart(uint64_t /*iteration*/, int /*step*/, int /*part*/) override {
    const int64_t end_ns = base::ThreadCpuNs() + duration_ns_;
    while (base::ThreadCpuNs() < end_ns) {
    }
    return {};
  }

 private:
  const int64_t duration_ns_;
};

class ConsumeCpu final : public Activity {
 public:
  ConsumeCpu(int64_t array_size, uint64_t seed)
      : seed_(seed), array_(array_size) {}

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    WorkRandom random(seed_, iteration);
    std::generate(array_.begin(), array_.end(), std::ref(random));
    std::sort(array_.begin(), array_.end());
    // Weighted by position, so that the checksum depends on the order.
    Work work;
    uint64_t weight = 1;
    for (uint64_t value : array_) work.checksum += value * weight++;
    return work;
  }

 private:
  const uint64_t seed_;
  std::vector<uint64_t> array_;
};

}  // namespace

std::unique_ptr<Activity> MakeSpinFor(int64_t duration_ns) {
  return std::make_unique<SpinFor>(duration_ns);
}

std::unique_ptr<Activity> MakeConsumeCpu(int64_t array_size, uint64_t seed) {
  return std::make_unique<ConsumeCpu>(array_size, seed);
}

}  // namespace distbench::activity
