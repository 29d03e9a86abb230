// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures on simulated histories how often changes are found, and how often
// there is a false alarm, and prints the tables of docs/products/history.md:
//
//   bazel run -c opt //distbench/products/history/testing:change_detection

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>

#include "absl/strings/str_format.h"
#include "distbench/products/history/testing/simulated_histories.h"

namespace distbench::history {
namespace {

constexpr uint64_t kSeed = 1;

constexpr HistoryModel kNormal = {};
constexpr HistoryModel kIndependent = {.within_night = 0};
constexpr HistoryModel kSingle = {.repeats = 1};
constexpr HistoryModel kHeavyTails = {.noise = Noise::kHeavyTails};
constexpr HistoryModel kCorrelated = {.between_nights = 0.2};

struct Row {
  const char* name;
  HistoryModel model;
  int series;
};

constexpr Row kRows[] = {
    {"five repeats a night, correlation 0.5", kNormal, 1},
    {"the same", kNormal, 20},
    {"five repeats, independent", kIndependent, 1},
    {"one run a night", kSingle, 1},
    {"five repeats, heavy tails (Student's t, 3)", kHeavyTails, 1},
    {"the same", kHeavyTails, 20},
    {"five repeats, nights correlated by 0.2", kCorrelated, 1},
    {"the same", kCorrelated, 20},
};

double Percent(int count, int histories) { return 100.0 * count / histories; }

void PrintStep(const Row& row, double step, int histories) {
  HistoryModel model = row.model;
  model.step = step;
  const DetectionPower power =
      MeasurePower(model, histories, row.series, kSeed);
  std::cout << absl::StreamFormat(" %.1f %%", Percent(power.found, histories));
  if (!power.nights.empty()) {
    std::cout << absl::StreamFormat(", %d nights",
                                    power.nights[power.nights.size() / 2]);
  }
  std::cout << " |";
}

void PrintPowers(int histories) {
  std::cout << "| nights | series | step of 3 % | 5 % | 10 % |\n"
               "|---|---|---|---|---|\n";
  for (const Row& row : kRows) {
    std::cout << "| " << row.name << " | " << row.series << " |";
    for (const double step : {0.03, 0.05, 0.1}) {
      PrintStep(row, step, histories);
    }
    std::cout << std::endl;
  }
}

void PrintAlarms(int all_series) {
  std::cout << "\n| nights | series judged together | histories | with an "
               "alarm in 200 nights |\n|---|---|---|---|\n";
  for (const Row& row : kRows) {
    const int histories = all_series / row.series;
    const double share = Percent(
        CountFalseAlarms(row.model, histories, row.series, kSeed), histories);
    const double error = std::sqrt(share * (100 - share) / histories);
    std::cout << absl::StreamFormat("| %s | %d | %d | %.1f %% ± %.1f |",
                                    row.name, row.series, histories, share,
                                    error)
              << std::endl;
  }
}

}  // namespace
}  // namespace distbench::history

int main(int argc, char** argv) {
  CLI::App app("How well changes are found in simulated histories");
  int histories = 400;
  int quiet_series = 400;
  app.add_option("--histories", histories, "Histories with changes in each row")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--quiet_series", quiet_series,
                 "Series without changes in each row")
      ->check(CLI::Range(20, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  distbench::history::PrintPowers(histories);
  distbench::history::PrintAlarms(quiet_series);
}
