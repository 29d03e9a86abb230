// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How well a ratio is known that is made of dependent values.

#ifndef DISTBENCH_STATS_RATIO_ERROR_H_
#define DISTBENCH_STATS_RATIO_ERROR_H_

#include <cstddef>

#include "absl/types/span.h"

namespace distbench::stats {

// A block of consecutive requests: their number, and an amount such as the sum
// of their latencies.
struct BlockAmount {
  double amount;
  double count;
};

// Fewer blocks say nothing about their correlation.
inline constexpr size_t kFewestForCorrelation = 10;

// All amounts, and all counts.
BlockAmount SumOf(absl::Span<const BlockAmount> blocks);

// Half the width of the confidence interval of all amounts divided by all
// counts, from the spread between consecutive blocks of unequal sizes, so that
// requests within a block may depend on each other. Requires at least two
// blocks, and a count above 0. It is a quantile of Student's t distribution
// times the standard error.
//
// kFewestForCorrelation blocks or more also show whether a block depends on the
// one before it. The error then is that of a first-order autoregression (G. E.
// P. Box, G. M. Jenkins and G. C. Reinsel, Time Series Analysis, 3rd ed.,
// Prentice Hall 1994, section 2.1), and the blocks count for as many as
// independent ones of the same error would be, though never for fewer than
// four. The correlation is corrected for the bias of short series (M. G.
// Kendall, Note on Bias in the Estimation of Autocorrelation, Biometrika 41
// (1954) 403-404).
double HalfWidthOfRatio(absl::Span<const BlockAmount> blocks,
                        double confidence);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RATIO_ERROR_H_
