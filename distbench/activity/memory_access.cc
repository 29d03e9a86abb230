// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/memory_access.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "distbench/base/work_random.h"

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
        base::WorkRandom(options_.seed, iteration, part).Below(lines_.size());
    Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
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
  base::WorkRandom random(seed);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(next[i], next[random.Below(i)]);
  }
  return next;
}

std::unique_ptr<Activity> MakePointerChase(const PointerChaseOptions& options) {
  return std::make_unique<PointerChase>(options);
}

namespace {

class PolluteDataCache final : public Activity {
 public:
  PolluteDataCache(int64_t array_size, int64_t reads_per_iteration,
                   uint64_t seed)
      : reads_per_iteration_(reads_per_iteration),
        seed_(seed),
        array_(array_size) {
    // Write every page, so that each has its own memory.
    base::WorkRandom random(seed);
    std::generate(array_.begin(), array_.end(), std::ref(random));
  }

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    base::WorkRandom random(seed_, iteration);
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

using Function = uint64_t (*)(uint64_t);

// One of many functions. Its constants differ from those of all others, so that
// the compiler cannot merge them. Aligned to a cache line, so that each call
// touches different lines.
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

constexpr std::array<Function, kManyFunctions> kFunctions =
    AllFunctions(std::make_integer_sequence<int, kManyFunctions>());

class PolluteInstructionCache final : public Activity {
 public:
  PolluteInstructionCache(int64_t invocations_per_iteration, uint64_t seed)
      : invocations_per_iteration_(invocations_per_iteration), seed_(seed) {}

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    base::WorkRandom random(seed_, iteration);
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

std::unique_ptr<Activity> MakePolluteDataCache(int64_t array_size,
                                               int64_t reads_per_iteration,
                                               uint64_t seed) {
  return std::make_unique<PolluteDataCache>(array_size, reads_per_iteration,
                                            seed);
}

uint64_t CallFunction(uint64_t which, uint64_t value) {
  return kFunctions[which](value);
}

std::unique_ptr<Activity> MakePolluteInstructionCache(
    int64_t invocations_per_iteration, uint64_t seed) {
  return std::make_unique<PolluteInstructionCache>(invocations_per_iteration,
                                                   seed);
}

}  // namespace distbench::activity
