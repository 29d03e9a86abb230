// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Published distributions, and how far a sample is from them.

#ifndef DISTBENCH_TESTS_LIBRARY_REFERENCE_DISTRIBUTION_H_
#define DISTBENCH_TESTS_LIBRARY_REFERENCE_DISTRIBUTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench {

class ReferenceDistribution {
 public:
  // `csv` has the format of ReferenceTable. The error names the line.
  static absl::StatusOr<ReferenceDistribution> Parse(absl::string_view csv,
                                                     absl::string_view rows);

  // Probability of values up to, or below, `value`.
  double UpTo(double value) const;
  double Below(double value) const;

  // Ascending.
  const std::vector<double>& values() const { return values_; }

 private:
  double Between(size_t next, double value) const;

  bool linear_ = false;
  std::vector<double> values_;
  std::vector<double> cumulative_;  // as many; 0 to 1
};

// The largest difference between the distribution functions at `from` and
// above, 0 to 1. `sample` is ascending and not empty.
double KolmogorovDistance(const std::vector<double>& sample,
                          const ReferenceDistribution& reference, double from);

}  // namespace distbench

#endif  // DISTBENCH_TESTS_LIBRARY_REFERENCE_DISTRIBUTION_H_
