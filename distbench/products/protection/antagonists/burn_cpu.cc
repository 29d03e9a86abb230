// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/burn_cpu.h"

#include <array>
#include <bit>

#include "distbench/base/work_random.h"

namespace distbench::protection {
namespace {

// The number of values whose steps do not depend on each other. Enough to keep
// the execution units of a CPU busy.
constexpr int kStreams = 8;

// The parameter of a logistic map, v = r v (1 - v), that is chaotic: values
// neither converge nor leave (0, 1).
constexpr double kLogistic = 3.9;

struct IntegerValue {
  explicit IntegerValue(base::WorkRandom& random) : value(random()) {}
  void Step() { value = value * 6364136223846793005u + 1442695040888963407u; }
  uint64_t Bits() const { return value; }

  uint64_t value;
};

struct DoubleValue {
  explicit DoubleValue(base::WorkRandom& random) : value(random.Fraction()) {}
  void Step() { value = kLogistic * value * (1 - value); }
  uint64_t Bits() const { return std::bit_cast<uint64_t>(value); }

  double value;
};

struct VectorValue {
  static constexpr int kLanes = 8;
  using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

  explicit VectorValue(base::WorkRandom& random) {
    for (int i = 0; i < kLanes; ++i) {
      lanes[i] = static_cast<float>(random.Fraction());
    }
  }
  void Step() {
    lanes = static_cast<float>(kLogistic) * lanes * (1.0f - lanes);
  }
  uint64_t Bits() const {
    uint64_t sum = 0;
    for (int i = 0; i < kLanes; ++i) {
      sum += std::bit_cast<uint32_t>(static_cast<float>(lanes[i]));
    }
    return sum;
  }

  Lanes lanes = {};
};

template <typename Value>
class BurnCpu final : public activity::Activity {
 public:
  BurnCpu(int64_t operations, uint64_t seed)
      : operations_(operations), seed_(seed) {}

  activity::Work DoPart(uint64_t iteration, int /*step*/,
                        int /*part*/) override {
    base::WorkRandom random(seed_, iteration);
    std::array<Value, kStreams> values = {
        Value(random), Value(random), Value(random), Value(random),
        Value(random), Value(random), Value(random), Value(random)};
    for (int64_t i = 0; i < operations_ / kStreams; ++i) {
      for (Value& value : values) value.Step();
    }
    for (int64_t i = 0; i < operations_ % kStreams; ++i) values[i].Step();
    activity::Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
    for (const Value& value : values) work.checksum += value.Bits();
    work.operations = operations_;
    return work;
  }

 private:
  const int64_t operations_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<activity::Activity> MakeBurnCpu(Arithmetic arithmetic,
                                                int64_t operations,
                                                uint64_t seed) {
  switch (arithmetic) {
    case Arithmetic::kFloatingPoint:
      return std::make_unique<BurnCpu<DoubleValue>>(operations, seed);
    case Arithmetic::kVector:
      return std::make_unique<BurnCpu<VectorValue>>(operations, seed);
    case Arithmetic::kInteger:
      break;
  }
  return std::make_unique<BurnCpu<IntegerValue>>(operations, seed);
}

}  // namespace distbench::protection
