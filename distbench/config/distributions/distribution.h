#ifndef DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_
#define DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/random/bit_gen_ref.h"

namespace distbench {

// A distribution over one or two integer dimensions: a choice among boxes, then
// a uniform draw inside the box, each dimension by itself. Draws take
// logarithmic time in the number of boxes. Immutable, so thread-safe.
class Distribution {
 public:
  static constexpr int kMaxDimensions = 2;
  using Values = std::array<int64_t, kMaxDimensions>;

  struct Range {
    int64_t lower;
    int64_t upper;  // inclusive
  };
  struct Box {
    double probability;
    std::array<Range, kMaxDimensions> ranges;
  };

  // Requires dimensions of 1 or 2, lower <= upper in the ranges of those
  // dimensions, and probabilities >= 0 that sum to about 1. Boxes of
  // probability 0 are left out.
  Distribution(int dimensions, const std::vector<Box>& boxes);

  int dimensions() const { return dimensions_; }

  // Values beyond dimensions() repeat the first one, so that a distribution of
  // "payload_size" gives request and response the same size.
  Values Draw(absl::BitGenRef random) const;

  // Smallest and largest value that a dimension, in [0, dimensions()), takes.
  Range Bounds(int dimension) const;

 private:
  int dimensions_;
  std::vector<double> cumulative_;  // ascending; last is 1
  std::vector<std::array<Range, kMaxDimensions>> boxes_;
};

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_
