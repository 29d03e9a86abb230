// Measures on simulated histories how often changes are found, and how often
// there is a false alarm, and prints the tables of docs/products/history.md:
//
//   bazel run -c opt //distbench/products/history/testing:change_detection

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/str_format.h"
#include "distbench/products/history/testing/simulated_histories.h"

namespace distbench::history {
namespace {

constexpr uint64_t kSeed = 1;

constexpr HistoryModel kNormal = {};
constexpr HistoryModel kHeavyTails = {.noise = Noise::kHeavyTails};
constexpr HistoryModel kCorrelated = {.correlation = 0.2};

// A row of a table. Where much is computed for one, it has fewer histories.
struct Row {
  const char* name;
  HistoryModel model;
  int series;
  int max_histories = 2000;
};

constexpr Row kRows[] = {
    {"normal", kNormal, 1},
    {"normal", kNormal, 20},
    {"heavy tails (Student's t, 3)", kHeavyTails, 1},
    {"heavy tails (Student's t, 3)", kHeavyTails, 20, 1000},
    {"normal, correlation 0.2", kCorrelated, 1, 500},
    {"normal, correlation 0.2", kCorrelated, 20, 200},
};

double Percent(int count, int histories) { return 100.0 * count / histories; }

// A change of the level is as likely to be found whatever happens later: the
// figures of levels are those with the spread doubled.
void PrintPower(const Row& row, int histories) {
  const auto power_at = [&](double spread_factor) {
    HistoryModel model = row.model;
    model.spread_factor = spread_factor;
    return MeasurePower(model, histories, row.series, kSeed);
  };
  const DetectionPower powers[] = {power_at(1.5), power_at(2), power_at(3)};
  std::cout << absl::StreamFormat(
      "| %s | %d | %.1f %% | %.1f %% |", row.name, row.series,
      Percent(powers[1].found_five_percent, histories),
      Percent(powers[1].found_ten_percent, histories));
  for (const DetectionPower& power : powers) {
    std::cout << absl::StreamFormat(" %.1f %%, %.1f %% |",
                                    Percent(power.noticed_spread, histories),
                                    Percent(power.found_spread, histories));
  }
  std::cout << std::endl;
}

void PrintPowers(int histories) {
  std::cout << "| noise | series | 5 % level | 10 % level | spread × 1.5 "
               "noticed, placed | × 2 | × 3 |\n"
               "|---|---|---|---|---|---|---|\n";
  for (const Row& row : kRows) PrintPower(row, histories);
}

// How often nobody could place a change better.
void PrintLikelihood(int histories) {
  std::cout << "\nThe most likely place is as near:";
  for (const double factor : {2.0, 3.0}) {
    HistoryModel model = kNormal;
    model.spread_factor = factor;
    const DetectionPower power =
        MeasurePower(model, histories, /*series_count=*/1, kSeed);
    std::cout << absl::StreamFormat(
        " × %g %.1f %%", factor,
        Percent(power.placed_by_likelihood, histories));
  }
  std::cout << std::endl;
}

void PrintAlarms(int max_histories) {
  std::cout << "\n| noise | series judged together | histories | with an alarm "
               "|\n|---|---|---|---|\n";
  for (const Row& row : kRows) {
    const int histories = std::min(row.max_histories, max_histories);
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
  int histories = 200;
  int quiet_histories = 2000;
  app.add_option("--histories", histories, "Histories with changes in each row")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--quiet_histories", quiet_histories,
                 "Histories without changes in each row, at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  distbench::history::PrintPowers(histories);
  distbench::history::PrintLikelihood(histories);
  distbench::history::PrintAlarms(quiet_histories);
}
