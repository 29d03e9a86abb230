// Measures on simulated histories how often changes are found, and how often
// there is a false alarm, and prints tables in Markdown:
//
//   bazel run -c opt //distbench/history/testing:change_detection

#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_format.h"
#include "distbench/history/testing/simulated_histories.h"

namespace distbench {
namespace {

constexpr uint64_t kSeed = 1;

struct Case {
  const char* name;
  HistoryModel model;
};

constexpr Case kCases[] = {
    {"normal", {}},
    {"heavy tails (Student's t, 3)", {.noise = Noise::kHeavyTails}},
    {"normal, correlation 0.2", {.correlation = 0.2}},
};

constexpr double kSpreadFactors[] = {1.5, 2, 3};

void PrintPower(const Case& noise, int series, int histories) {
  HistoryModel model = noise.model;
  for (const double factor : kSpreadFactors) {
    model.spread_factor = factor;
    const DetectionPower power = MeasurePower(model, histories, series, kSeed);
    const auto share = [&](int found) {
      return absl::StrFormat("%.1f %%", 100.0 * found / histories);
    };
    std::cout << absl::StreamFormat(
                     "| %s | %d | %s | %s | %g | %s | %s | %s | %d |",
                     noise.name, series, share(power.found_five_percent),
                     share(power.found_ten_percent), factor,
                     share(power.noticed_spread), share(power.found_spread),
                     share(power.placed_by_likelihood), power.other_changes)
              << std::endl;
  }
}

void PrintPowers(int histories) {
  std::cout << "| noise of 3 % | series | 5 % level | 10 % level | spread "
               "times | noticed within 25 | placed within 5 | placed by "
               "likelihood | other changes |\n"
               "|---|---|---|---|---|---|---|---|---|\n";
  for (const Case& noise : kCases) {
    for (const int series : {1, 20}) PrintPower(noise, series, histories);
  }
}

void PrintAlarms(int histories) {
  std::cout << "\n| no change | series | histories with an alarm |\n"
            << "|---|---|---|\n";
  for (const Case& noise : kCases) {
    for (const int series : {1, 20}) {
      const int alarms =
          CountFalseAlarms(noise.model, histories, series, kSeed);
      std::cout << absl::StreamFormat("| %s | %d | %.1f %% |", noise.name,
                                      series, 100.0 * alarms / histories)
                << std::endl;
    }
  }
}

}  // namespace
}  // namespace distbench

int main(int argc, char** argv) {
  CLI::App app("How well changes are found in simulated histories");
  int histories = 200;
  int quiet_histories = 2000;
  app.add_option("--histories", histories, "Histories with changes in each row")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--quiet_histories", quiet_histories,
                 "Histories without changes in each row")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  distbench::PrintPowers(histories);
  distbench::PrintAlarms(quiet_histories);
}
