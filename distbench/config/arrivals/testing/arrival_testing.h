// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Whether arrivals have the distribution that was asked for.
//
// The rate's integral is computed by the tests in closed form. Times that are
// mapped by it have independent gaps of the process's own distribution (the
// time-rescaling theorem), on which the Kolmogorov-Smirnov test is exact. It is
// done for 20 fixed seeds; a right process fails the whole of it with a
// probability of 0.001 (Bonferroni: 0.00005 for each seed).

#ifndef DISTBENCH_CONFIG_ARRIVALS_TESTING_ARRIVAL_TESTING_H_
#define DISTBENCH_CONFIG_ARRIVALS_TESTING_ARRIVAL_TESTING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "distbench/config/arrivals/arrival_plan.h"
#include "distbench/config/arrivals/arrival_stream.h"

namespace distbench::config {

inline constexpr int kSeeds = 20;
inline constexpr double kIntervalNs = 1e6;
inline constexpr double kMs = 1e6;
inline constexpr double kSecond = 1e9;

// The integral of the rate's factor until a time.
using Integral = std::function<double(double time_ns)>;
using Cdf = std::function<double(double gap)>;

// Compiles an Arrivals message in text format.
ArrivalPlan PlanOf(const std::string& text);

// The next `count` arrivals of the stream, or the first ones of a stream with
// kIntervalNs.
std::vector<double> Times(ArrivalStream stream, int count);
std::vector<double> Times(const ArrivalPlan& plan, uint64_t seed, int count);

// The probability that the Kolmogorov-Smirnov statistic of values that should
// be uniform is as large by chance.
double KolmogorovPValue(std::vector<double> uniform);

// Distributions of gaps whose mean is 1.
double ExponentialCdf(double gap);
Cdf GammaCdf(double variation);

// The integral of a factor of 1.
double Same(double time_ns);

// Expects that gaps have the distribution, once mapped by the integral.
void ExpectGapsOf(const std::string& arrivals, const Integral& integral,
                  const Cdf& cdf);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_TESTING_ARRIVAL_TESTING_H_
