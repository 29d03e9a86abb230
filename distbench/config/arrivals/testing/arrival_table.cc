// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Prints the table of docs/arrivals.md: arrival processes at 1000 per second,
// measured over 100 seconds with each of 20 seeds.
//
//   bazel run -c opt //distbench/config/arrivals/testing:arrival_table

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "google/protobuf/text_format.h"

namespace distbench::config {
namespace {

constexpr int kSeeds = 20;
constexpr double kIntervalNs = 1e6;
constexpr double kDurationNs = 100e9;
constexpr double kWindowNs = 1e9;

struct Row {
  const char* name;
  const char* arrivals;
};

constexpr Row kRows[] = {
    {"constant", "process: 'constant'"},
    {"Poisson", ""},
    {"gamma, variation 0.5", "process: 'gamma' coefficient_of_variation: 0.5"},
    {"gamma, variation 3", "process: 'gamma' coefficient_of_variation: 3"},
    {"gamma, variation 10", "process: 'gamma' coefficient_of_variation: 10"},
    {"constant, one in five kept", "process: 'constant' kept_share: 0.2"},
    {"Poisson, sine: 10 s, amplitude 0.8",
     "modulations { sine { period_ns: 10000000000 amplitude: 0.8 } }"},
    {"Poisson, on 1 s, off 4 s",
     "modulations { on_off { on_ns: 1000000000 off_ns: 4000000000 } }"},
    {"Poisson, on and off exponential, 100 ms and 300 ms",
     "modulations { on_off { on_ns: 100000000 off_ns: 300000000 times: "
     "'exponential' } }"},
    {"Poisson, Markov: 5 for 100 ms, 0.5 for 900 ms",
     "modulations { markov { states { factor: 5 mean_duration_ns: 100000000 } "
     "states { factor: 0.5 mean_duration_ns: 900000000 } } }"},
    {"Poisson, ramp: 0 to 2 in 100 s",
     "modulations { schedule { segments { duration_ns: 100000000000 factor: 0 "
     "to_factor: 2 } } }"},
    {"gamma, variation 3, steps: 0.5, 1, 1.5, 20 s each, repeated",
     "process: 'gamma' coefficient_of_variation: 3 modulations { schedule { "
     "repeat: true segments { duration_ns: 20000000000 factor: 0.5 } segments "
     "{ "
     "duration_ns: 20000000000 } segments { duration_ns: 20000000000 factor: "
     "1.5 } } }"},
    {"constant and gamma, variation 5, half each",
     "superposed { process: 'constant' } superposed { process: 'gamma' "
     "coefficient_of_variation: 5 }"},
};

// Means over the seeds, except for the rates.
struct Measured {
  std::vector<double> rates;  // of each seed
  double variation = 0;
  double dispersion = 0;
  double autocorrelation = 0;
};

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  Moments moments;
  const double count = static_cast<double>(values.size());
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    moments.variance +=
        (value - moments.mean) * (value - moments.mean) / (count - 1);
  }
  return moments;
}

void Measure(const ArrivalPlan& plan, uint64_t seed, Measured& sums) {
  ArrivalStream stream(plan, kIntervalNs, {.seed = seed});
  std::vector<double> gaps;
  std::vector<double> counts(static_cast<size_t>(kDurationNs / kWindowNs), 0);
  double last_ns = -1;
  while (stream.time_ns() < kDurationNs) {
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    ++counts[static_cast<size_t>(stream.time_ns() / kWindowNs)];
    if (last_ns >= 0) gaps.push_back(stream.time_ns() - last_ns);
    last_ns = stream.time_ns();
    stream.Advance();
  }
  const Moments gap = MomentsOf(gaps);
  const Moments count = MomentsOf(counts);
  double products = 0;
  for (size_t i = 1; i < gaps.size(); ++i) {
    products += (gaps[i] - gap.mean) * (gaps[i - 1] - gap.mean);
  }
  sums.rates.push_back(count.mean * 1e9 / kWindowNs);
  sums.variation += std::sqrt(gap.variance) / gap.mean / kSeeds;
  sums.dispersion += count.variance / count.mean / kSeeds;
  // Equal gaps have no correlation.
  if (gap.variance > 1e-6) {
    sums.autocorrelation +=
        products / static_cast<double>(gaps.size()) / gap.variance / kSeeds;
  }
}

void PrintTable() {
  std::printf(
      "| arrivals | asked /s | measured /s | variation of gaps | index of "
      "dispersion | autocorrelation |\n|---|---|---|---|---|---|\n");
  for (const Row& row : kRows) {
    Iterations iterations;
    google::protobuf::TextFormat::ParseFromString(
        absl::StrCat("open_loop_interval_ns: 1000000 max_duration_us: "
                     "100000000 arrivals { ",
                     row.arrivals, " }"),
        &iterations);
    const ArrivalPlan plan = CompileArrivals(iterations.arrivals());
    Measured measured;
    for (int seed = 0; seed < kSeeds; ++seed) Measure(plan, seed, measured);
    const Moments rate = MomentsOf(measured.rates);
    std::printf("| %s | %.0f | %.1f ± %.1f | %.2f | %.2f | %.2f |\n", row.name,
                MeanRatePerSecond(iterations), rate.mean,
                std::sqrt(rate.variance / kSeeds), measured.variation,
                measured.dispersion, measured.autocorrelation);
  }
}

}  // namespace
}  // namespace distbench::config

int main() { distbench::config::PrintTable(); }
