// The finding on planned faults. It is no problem of the run, but keeps its
// numbers from being taken for those of a healthy system.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/planned_faults.h"

namespace distbench::report {
namespace {

// The summary lists the others.
constexpr size_t kFaultsNamed = 3;

// Names those that were in effect, or those that were not. Empty if there are
// none.
std::string NamesOf(const std::vector<PlannedFault>& faults, bool missed) {
  std::vector<std::string> names;
  for (const PlannedFault& fault : faults) {
    if (fault.was_missed != missed) continue;
    if (names.size() == kFaultsNamed) {
      return absl::StrCat(absl::StrJoin(names, ", "), " and others");
    }
    names.push_back(absl::StrCat(fault.name, " (", fault.description, ")"));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

void JudgeFaults(const TestResult& result, FindingList& findings) {
  const std::vector<PlannedFault> faults = PlannedFaultsOf(result);
  if (faults.empty()) return;
  std::vector<std::string> texts;
  if (AnyHappened(faults)) {
    texts.push_back(absl::StrCat(
        "servers failed on purpose: ", NamesOf(faults, /*missed=*/false),
        ". These are not the numbers of a healthy system"));
  }
  if (const std::string missed = NamesOf(faults, /*missed=*/true);
      !missed.empty()) {
    texts.push_back(absl::StrCat("planned but never in effect: ", missed,
                                 "; the traffic ended before, or servers stood "
                                 "still meanwhile"));
  }
  findings.Add(Finding::WARN, "planned_faults", absl::StrJoin(texts, "; "));
}

}  // namespace distbench::report
