// The finding on planned faults. It is no problem of the run, but keeps its
// numbers from being taken for those of a healthy system.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/planned_faults.h"

namespace distbench {
namespace {

// The summary lists the others.
constexpr size_t kFaultsNamed = 3;

}  // namespace

void JudgeFaults(const TestResult& result, FindingList& findings) {
  const std::vector<PlannedFault> faults = PlannedFaultsOf(result);
  if (faults.empty()) return;
  std::vector<std::string> texts;
  for (const PlannedFault& fault : faults) {
    if (texts.size() == kFaultsNamed) break;
    texts.push_back(absl::StrCat(fault.name, " (", fault.description, ")"));
  }
  findings.Add(
      Finding::WARN, "planned_faults",
      absl::StrCat("servers failed on purpose: ", absl::StrJoin(texts, ", "),
                   faults.size() > kFaultsNamed ? " and others" : "",
                   ". These are not the numbers of a healthy system"));
}

}  // namespace distbench
