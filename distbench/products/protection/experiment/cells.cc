// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/cells.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/products/protection/experiment/services.h"

namespace distbench::protection {
namespace {

// The antagonists' names, and the empty name of none.
std::vector<std::string> AntagonistsAndNone(const Experiment& experiment) {
  std::vector<std::string> names = {""};
  for (const Antagonist& antagonist : experiment.antagonists()) {
    names.push_back(antagonist.name());
  }
  return names;
}

// The loads, or the empty one of the test as it is.
std::vector<std::string> LoadsOf(const Experiment& experiment) {
  const auto& loads = experiment.subject().loads();
  if (loads.empty()) return {""};
  return {loads.begin(), loads.end()};
}

ExperimentCell MakeCell(const std::string& controls,
                        const std::string& antagonist,
                        const std::string& load) {
  ExperimentCell cell;
  cell.set_controls(controls);
  cell.set_antagonist(antagonist);
  cell.set_load(load);
  return cell;
}

// Each cell once, in the order of the config.
std::vector<ExperimentCell> Matrix(const Experiment& experiment) {
  std::vector<ExperimentCell> cells;
  for (const ControlSet& controls : experiment.controls()) {
    for (const std::string& antagonist : AntagonistsAndNone(experiment)) {
      for (const std::string& load : LoadsOf(experiment)) {
        cells.push_back(MakeCell(controls.name(), antagonist, load));
      }
    }
  }
  for (const Antagonist& antagonist : experiment.antagonists()) {
    ExperimentCell& alone = cells.emplace_back();
    alone.set_antagonist(antagonist.name());
    alone.set_purpose(kAntagonistAlone);
  }
  return cells;
}

double AtLeastOne(int count) {
  return std::max(1.0, static_cast<double>(count));
}

}  // namespace

double CountRuns(const Experiment& experiment) {
  const double antagonists = experiment.antagonists_size();
  const double beside_subject = AtLeastOne(experiment.controls_size()) *
                                AtLeastOne(experiment.subject().loads_size()) *
                                (1 + antagonists);
  return static_cast<double>(experiment.repeat()) *
         (beside_subject + antagonists);
}

std::vector<ExperimentCell> ListCells(const Experiment& experiment,
                                      uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ExperimentCell> runs;
  for (int repetition = 0; repetition < experiment.repeat(); ++repetition) {
    std::vector<ExperimentCell> cells = Matrix(experiment);
    std::shuffle(cells.begin(), cells.end(), random);
    for (ExperimentCell& cell : cells) {
      cell.set_repetition(repetition);
      cell.set_order(static_cast<int>(runs.size()));
      runs.push_back(std::move(cell));
    }
  }
  return runs;
}

bool IsSameCell(const ExperimentCell& a, const ExperimentCell& b) {
  return a.controls() == b.controls() && a.antagonist() == b.antagonist() &&
         a.load() == b.load() && a.purpose() == b.purpose();
}

bool IsSameRun(const ExperimentCell& a, const ExperimentCell& b) {
  return IsSameCell(a, b) && a.repetition() == b.repetition();
}

std::string DescribeCell(const ExperimentCell& cell) {
  if (cell.purpose() == kAntagonistAlone) {
    return absl::StrCat(cell.antagonist(), " alone");
  }
  std::vector<std::string> parts = {absl::StrCat("controls ", cell.controls())};
  parts.push_back(cell.antagonist().empty() ? "no antagonist"
                                            : cell.antagonist());
  if (!cell.load().empty()) parts.push_back(cell.load());
  return absl::StrJoin(parts, ", ");
}

}  // namespace distbench::protection
