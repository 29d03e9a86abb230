// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/testing/theory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

namespace distbench::simulation {

namespace {

// The value at which an increasing function reaches `target`.
double Invert(const std::function<double(double)>& increasing, double target) {
  double low = 0;
  double high = 1;
  while (increasing(high) < target) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (increasing(middle) < target ? low : high) = middle;
  }
  return high;
}

double HarmonicNumber(int n) {
  double sum = 0;
  for (int i = 1; i <= n; ++i) sum += 1.0 / i;
  return sum;
}

// The probability that all servers are busy.
double ErlangC(double load, int servers) {
  const double offered = load * servers;
  double term = 1;
  double sum = 0;
  for (int k = 0; k < servers; ++k) {
    sum += term;
    term *= offered / (k + 1);
  }
  const double waiting = term / (1 - load);
  return waiting / (sum + waiting);
}

}  // namespace

QueueTheory MM1(double load) {
  const double mean = 1 / (1 - load);
  return {mean, mean * std::log(2), mean * std::log(100)};
}

QueueTheory MMc(double load, int servers) {
  const double waits = ErlangC(load, servers);
  const double rate = servers * (1 - load);  // of the wait of those that wait
  // The sum of an exponential service time and of a wait that is 0 or
  // exponential.
  const auto at_most = [&](double time) {
    const double both =
        std::abs(rate - 1) < 1e-6
            ? (1 + time) * std::exp(-time)
            : (rate * std::exp(-time) - std::exp(-rate * time)) / (rate - 1);
    return 1 - (1 - waits) * std::exp(-time) - waits * both;
  };
  return {1 + waits / rate, Invert(at_most, 0.5), Invert(at_most, 0.99)};
}

QueueTheory MG1(double load, const std::vector<double>& service_times,
                int64_t count) {
  double second_moment = 0;
  for (double time : service_times) {
    second_moment += time * time / static_cast<double>(service_times.size());
  }
  const double mean = 1 + load * second_moment / (2 * (1 - load));
  std::mt19937_64 random(1);
  std::exponential_distribution<double> interval(load);
  std::uniform_int_distribution<size_t> which(0, service_times.size() - 1);
  std::vector<double> responses;
  responses.reserve(count);
  double wait = 0;
  for (int64_t i = 0; i < count; ++i) {
    responses.push_back(wait + service_times[which(random)]);
    wait = std::max(0.0, responses.back() - interval(random));
  }
  const auto quantile = [&](double share) {
    const auto at = responses.begin() +
                    static_cast<int64_t>(share * static_cast<double>(count));
    std::nth_element(responses.begin(), at, responses.end());
    return *at;
  };
  const double p50 = quantile(0.5);
  return {mean, p50, quantile(0.99)};
}

QueueTheory MD1(double load) {
  const auto wait_at_most = [load](double time) {
    double sum = 0;
    double term = 0;
    for (int k = 0; k <= static_cast<int>(time); ++k) {
      const double x = load * (k - time);
      term = std::pow(x, k) / std::tgamma(k + 1) * std::exp(-x);
      sum += term;
    }
    return (1 - load) * sum;
  };
  const auto quantile = [&](double share) {
    return 1 + (wait_at_most(0) >= share ? 0 : Invert(wait_at_most, share));
  };
  return {1 + load / (2 * (1 - load)), quantile(0.5), quantile(0.99)};
}

QueueTheory ProcessorSharing(double load, int servers) {
  return {.mean = MMc(load, servers).mean};
}

double ForkJoin(double load, int servers) {
  const double two = (12 - load) / 8 / (1 - load);
  if (servers == 1) return 1 / (1 - load);
  const double share = HarmonicNumber(servers) / HarmonicNumber(2);
  return (share + 4.0 / 11 * (1 - share) * load) * two;
}

double ForkJoinLowerBound(double load) { return 1 / (1 - load); }

double ForkJoinUpperBound(double load, int servers) {
  return HarmonicNumber(servers) / (1 - load);
}

}  // namespace distbench::simulation
