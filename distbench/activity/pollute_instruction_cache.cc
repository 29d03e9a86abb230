#include "distbench/activity/pollute_instruction_cache.h"

#include "distbench/activity/many_functions.h"
#include "distbench/activity/work_random.h"

namespace distbench {
namespace {

class PolluteInstructionCache final : public Activity {
 public:
  PolluteInstructionCache(int64_t invocations_per_iteration, uint64_t seed)
      : invocations_per_iteration_(invocations_per_iteration), seed_(seed) {}

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    WorkRandom random(seed_, iteration);
    Work work;
    for (int64_t i = 0; i < invocations_per_iteration_; ++i) {
      work.checksum = CallFunction(random.Below(kManyFunctions), work.checksum);
    }
    return work;
  }

 private:
  const int64_t invocations_per_iteration_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<Activity> MakePolluteInstructionCache(
    int64_t invocations_per_iteration, uint64_t seed) {
  return std::make_unique<PolluteInstructionCache>(invocations_per_iteration,
                                                   seed);
}

}  // namespace distbench
