// Samples of a distribution, and how far two of them are from one another.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_SAMPLES_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_SAMPLES_H_

#include <cstdint>
#include <vector>

namespace distbench::trace_import {

// 0 of no values.
double Mean(const std::vector<int64_t>& values);

// The smallest value that at least this share of all do not exceed; 0 of no
// values.
double Quantile(const std::vector<int64_t>& sorted, double share);

// How far the quantiles of two distributions are apart, on average, as a part
// of the mean of the first: the Wasserstein distance of order 1, relative. 0 if
// they are alike, and 0.05 if quantiles differ by 5 % of the mean. Unlike the
// largest difference of cumulative probabilities (Kolmogorov's distance), it is
// small if values differ by little. Without a mean, 0 if the second has none
// either, and otherwise 1. Requires sorted values that are at least 0, and some
// of each.
double RelativeDistance(const std::vector<int64_t>& sorted,
                        const std::vector<int64_t>& other);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_SAMPLES_H_
