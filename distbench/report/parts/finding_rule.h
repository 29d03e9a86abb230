// Findings that products add to those of the core.

#ifndef DISTBENCH_REPORT_PARTS_FINDING_RULE_H_
#define DISTBENCH_REPORT_PARTS_FINDING_RULE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Collects findings, in the order in which they are added.
class FindingList {
 public:
  void Add(Finding::Severity severity, absl::string_view code,
           std::string message) {
    Finding& finding = findings_.emplace_back();
    finding.set_severity(severity);
    finding.set_code(std::string(code));
    finding.set_message(std::move(message));
  }

  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

// Judge() asks all that are registered (distbench/base/plugins.h), after its
// own rules.
struct FindingRule {
  // Adds what it finds in the result; nothing if the result does not use the
  // product. The contract of a finding is that of Judge().
  void (*judge)(const TestResult& result, FindingList& findings);

  // The next step after a finding with this code; see AdviceFor(). Empty if the
  // code is none of this rule's. Each code has advice.
  absl::string_view (*advice_for)(absl::string_view code);
};

// Says whether what a product keeps in results beside the runs is false, as
// findings say of a run; a plug-in.
struct ValidityRule {
  bool (*is_invalid)(const TestSequenceResults& results);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_FINDING_RULE_H_
