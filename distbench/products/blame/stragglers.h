// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Instances that fanouts waited for more often than chance explains.

#ifndef DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_
#define DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "distbench/products/blame/critical_path.h"
#include "distbench/products/blame/report.pb.h"
#include "distbench/products/blame/request_tree.h"

namespace distbench::blame {

// Healthy instances are accused in at most 5 % of tests: half of it is for
// stragglers, half for what helps (what_if.h).
inline constexpr double kErrorOfStragglers = 0.025;
inline constexpr double kErrorOfWhatIfs = 0.025;

// Consecutive blocks of requests, from which it is seen how much chance does:
// what is wrong for a moment, which may happen anywhere, is in few of them.
inline constexpr int kBlocks = 30;
using BlockAmounts = std::array<double, kBlocks>;
inline size_t BlockOf(size_t request, size_t request_count) {
  return request * kBlocks / request_count;
}

// Whether an amount that would be 0 on average among equals is above 0
// throughout the test: divided by the root of the sum of squares of what each
// block adds to it, it is above a normal quantile (B. Efron, Student's t-Test
// Under Symmetry Conditions, JASA 64, 1969, 1278-1302).
bool IsThroughout(double amount, const BlockAmounts& added,
                  double error_probability);

// Returns all instances that were targets of fanouts with several targets,
// those to blame first, then by how often they were last in the tail.
//
// If all targets are alike, each of n is last in 1/n of the fanouts. An
// instance is a straggler if it was last
// - in more fanouts than equals would be, whose number is binomial. With
//   fanouts of several sizes, the mean of 1/n is the probability: the true
//   distribution is then narrower than the binomial one (W. Hoeffding, On the
//   Distribution of the Number of Successes in Independent Trials, Annals of
//   Mathematical Statistics 27, 1956, 713-721);
// - throughout the test, as above;
// - at least half as often again as expected: in thousands of fanouts, the
//   smallest difference is no chance.
// Both tests are one-sided. They are made of each instance among all fanouts
// and among those that requests in the tail waited for, and share an error
// probability (Bonferroni).
//
// A straggler is to blame if it spends at least half of its time on critical
// paths (of the tail, if there is any there) by itself. Others wait for
// stragglers.
std::vector<ReportedBlame::Straggler> FindStragglers(
    const TracedRequests& requests, const TailWindow& tail);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_STRAGGLERS_H_
