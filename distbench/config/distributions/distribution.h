// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The distributions that sizes, counts and times are drawn from. Configs
// describe them by points of a probability mass function (PMF) or a cumulative
// distribution function (CDF).

#ifndef DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_
#define DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/random/bit_gen_ref.h"
#include "proto/joint_distribution.pb.h"

namespace distbench::config {

// A distribution over one or two integer dimensions. A draw chooses a box, then
// a uniform value inside the box, independently for each dimension. It takes
// logarithmic time in the number of boxes. Immutable and thread-safe.
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

  // Requires 1 or 2 dimensions, lower <= upper in the ranges of those
  // dimensions, and probabilities >= 0 that sum to about 1. Boxes of
  // probability 0 are left out.
  Distribution(int dimensions, const std::vector<Box>& boxes);

  int dimensions() const { return dimensions_; }

  // Values beyond dimensions() repeat the first one, so a distribution of
  // "payload_size" gives the request and the response the same size.
  Values Draw(absl::BitGenRef random) const;

  // The smallest and the largest value of a dimension in [0, dimensions()).
  Range Bounds(int dimension) const;

 private:
  int dimensions_;
  std::vector<double> cumulative_;  // ascending; the last is 1
  std::vector<std::array<Range, kMaxDimensions>> boxes_;
};

// Names of fields. A joint distribution may list its two in either order.
inline constexpr char kRequestSizeField[] = "request_payload_size";
inline constexpr char kResponseSizeField[] = "response_payload_size";
inline constexpr char kPayloadSizeField[] = "payload_size";
inline constexpr char kDelayField[] = "action_delay_ns";

// The number of values in a draw: one per field name. Without field names, it
// is one per data point of the first PMF point, and one for a CDF.
int DimensionsOf(const DistributionConfig& config);

// Requires a config that passed validation. In a joint distribution, the
// request size is always the first dimension, whatever the order of the fields.
Distribution MakeDistribution(const DistributionConfig& config);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_DISTRIBUTIONS_DISTRIBUTION_H_
