#include "distbench/sequencer/execution/finding_limit.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

void LimitFindings(RunInfo& info) {
  std::map<std::pair<Finding::Severity, std::string>, int> counts;
  google::protobuf::RepeatedPtrField<Finding> kept;
  for (Finding& finding : *info.mutable_findings()) {
    int& count = counts[{finding.severity(), finding.code()}];
    if (++count <= kMostFindingsOfAKind) kept.Add(std::move(finding));
  }
  for (const auto& [kind, count] : counts) {
    if (count <= kMostFindingsOfAKind) continue;
    Finding& rest = *kept.Add();
    rest.set_severity(kind.first);
    rest.set_code(kind.second);
    rest.set_message(absl::StrCat("there are ", count - kMostFindingsOfAKind,
                                  " more findings of this kind"));
  }
  info.mutable_findings()->Swap(&kept);
}

}  // namespace distbench::sequencer
