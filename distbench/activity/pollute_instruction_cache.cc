#include "distbench/activity/pollute_instruction_cache.h"

#include <array>
#include <random>
#include <utility>

#include "absl/random/distributions.h"

namespace distbench {
namespace {

constexpr int kFunctionCount = 10'000;

using Function = uint64_t (*)(uint64_t);

// One of many functions: its constants differ from all others', so that none
// can be folded into another. Aligned to a cache line, so that each call
// touches lines of its own.
template <int kNumber>
__attribute__((noinline, aligned(64))) uint64_t Scramble(uint64_t value) {
  value ^= value >> (7 + kNumber % 23);
  value *= 0x9e3779b97f4a7c15u + 2 * uint64_t{kNumber};
  return value + kNumber;
}

template <int... kNumbers>
constexpr std::array<Function, sizeof...(kNumbers)> AllFunctions(
    std::integer_sequence<int, kNumbers...>) {
  return {&Scramble<kNumbers>...};
}

constexpr std::array<Function, kFunctionCount> kFunctions =
    AllFunctions(std::make_integer_sequence<int, kFunctionCount>());

class PolluteInstructionCache final : public Activity {
 public:
  PolluteInstructionCache(int64_t invocations_per_iteration, uint64_t seed)
      : invocations_per_iteration_(invocations_per_iteration), random_(seed) {}

  void RunIteration() override {
    for (int64_t i = 0; i < invocations_per_iteration_; ++i) {
      checksum_ =
          kFunctions[absl::Uniform(random_, 0, kFunctionCount)](checksum_);
    }
  }

  uint64_t checksum() const override { return checksum_; }

 private:
  const int64_t invocations_per_iteration_;
  std::mt19937_64 random_;
  uint64_t checksum_ = 0;
};

}  // namespace

std::unique_ptr<Activity> MakePolluteInstructionCache(
    int64_t invocations_per_iteration, uint64_t seed) {
  return std::make_unique<PolluteInstructionCache>(invocations_per_iteration,
                                                   seed);
}

}  // namespace distbench
