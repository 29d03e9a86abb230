// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/impossible_cells.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_table.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/cells.h"
#include "distbench/products/protection/runner.h"

namespace distbench::protection {
namespace {

// A sentence names this many cells, and only counts the others.
constexpr size_t kMostNamed = 3;

struct Impossible {
  std::set<std::string> cells;
  int run_count = 0;
};

// The load hardly matters for what the hosts have to have.
std::vector<std::string> ReasonsOf(const ExperimentPlan& plan,
                                   ExperimentCell cell, WhyImpossible why) {
  cell.set_load_per_second(LoadPerSecond(plan, cell, plan.own_rate));
  const absl::StatusOr<DistributedSystemDescription> test =
      CellTest(plan, cell, plan.phases.stabilise);
  if (!test.ok()) return {};  // which the plan has refused
  return why(*test);
}

}  // namespace

std::vector<std::string> ImpossibleCells(const ExperimentPlan& plan,
                                         const TestSequenceResults& results,
                                         WhyImpossible why) {
  std::map<std::string, std::vector<std::string>> reasons_by_cell;
  std::map<std::string, Impossible> impossible_by_reason;
  for (const ExperimentCell& cell : RunsLeft(plan, results)) {
    const std::string name = DescribeCell(cell);
    const auto [reasons, is_new] = reasons_by_cell.try_emplace(name);
    if (is_new) reasons->second = ReasonsOf(plan, cell, why);
    for (const std::string& reason : reasons->second) {
      Impossible& impossible = impossible_by_reason[reason];
      impossible.cells.insert(name);
      ++impossible.run_count;
    }
  }
  const size_t run_count = ListCells(plan.experiment, plan.seed).size();
  std::vector<std::string> sentences;
  for (const auto& [reason, impossible] : impossible_by_reason) {
    const std::vector<std::string> cells(impossible.cells.begin(),
                                         impossible.cells.end());
    sentences.push_back(absl::StrCat(
        impossible.run_count, " of ", run_count, " runs cannot be made (",
        base::JoinSome(cells, kMostNamed, "; ", "; and "), "): ", reason));
  }
  return sentences;
}

}  // namespace distbench::protection
