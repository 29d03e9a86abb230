// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/compute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "distbench/activity/shared_cache.h"
#include "distbench/base/clock.h"
#include "distbench/base/work_random.h"

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
    base::WorkRandom random(seed_, iteration);
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

namespace {

using Values = std::vector<float>;

// A number from -1 to 1.
float Signed(base::WorkRandom& random) {
  return static_cast<float>(2 * random.Fraction() - 1);
}

// By layer, then by input of the layer. Their size keeps the values of all
// layers within the same range.
std::shared_ptr<const Values> SharedWeights(const InferOptions& options) {
  using Key = std::tuple<int64_t, int64_t, uint64_t>;
  static auto* const cache = new SharedCache<Key, Values>;
  return cache->Get({options.layers, options.width, options.seed}, [&] {
    Values weights(options.layers * options.width * options.width);
    const float scale = std::sqrt(6.0f / static_cast<float>(options.width));
    base::WorkRandom random(options.seed);
    for (float& weight : weights) weight = scale * Signed(random);
    return weights;
  });
}

// The values of the next layer for one input.
void Multiply(const float* weights, const Values& values, Values& next) {
  std::fill(next.begin(), next.end(), 0.0f);
  const size_t width = next.size();
  for (size_t i = 0; i < width; ++i) {
    // Half of the values, after a rectifier.
    if (values[i] == 0) continue;
    const float value = values[i];
    const float* const row = weights + i * width;
    for (size_t j = 0; j < width; ++j) next[j] += value * row[j];
  }
  for (float& value : next) value = std::max(value, 0.0f);
}

class Infer final : public Activity {
 public:
  explicit Infer(const InferOptions& options)
      : options_(options), weights_(SharedWeights(options)) {}

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    const Share inputs = ShareOf(options_.batch, part, options_.parallelism);
    Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
    for (int64_t input = inputs.begin; input < inputs.end; ++input) {
      base::WorkRandom random(options_.seed, iteration, input);
      work.checksum += InferOne(random);
    }
    return work;
  }

 private:
  // Like programs that do this, allocates the values of each layer.
  uint64_t InferOne(base::WorkRandom& random) const {
    Values values(options_.width);
    for (float& value : values) value = Signed(random);
    uint64_t checksum = 0;
    for (int64_t layer = 0; layer < options_.layers; ++layer) {
      Values next(options_.width);
      checksum += Allocate(random);
      Multiply(weights_->data() + layer * options_.width * options_.width,
               values, next);
      values = std::move(next);
    }
    for (float value : values) checksum += std::bit_cast<uint32_t>(value);
    return checksum;
  }

  // All blocks exist at the same time, and the start of each is written.
  uint64_t Allocate(base::WorkRandom& random) const {
    std::vector<std::unique_ptr<char[]>> blocks(options_.allocations);
    uint64_t checksum = 0;
    for (std::unique_ptr<char[]>& block : blocks) {
      const uint64_t bytes = 1 + random.Below(options_.allocation_bytes);
      block = std::make_unique_for_overwrite<char[]>(bytes);
      block[0] = static_cast<char>(bytes);
      checksum += bytes;
    }
    for (const auto& block : blocks) {
      checksum += static_cast<unsigned char>(block[0]);
    }
    return checksum;
  }

  const InferOptions options_;
  const std::shared_ptr<const Values> weights_;
};

}  // namespace

std::unique_ptr<Activity> MakeInfer(const InferOptions& options) {
  return std::make_unique<Infer>(options);
}

}  // namespace distbench::activity
