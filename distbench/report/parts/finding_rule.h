// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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
  // `message` and `advice`: see Finding.
  void Add(Finding::Severity severity, absl::string_view code,
           std::string message, std::string advice) {
    Finding& finding = findings_.emplace_back();
    finding.set_severity(severity);
    finding.set_code(std::string(code));
    finding.set_message(std::move(message));
    finding.set_advice(std::move(advice));
  }

  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

// Adds what it finds in the result; nothing if the result does not use the
// product. The contract of a finding is that of Judge(), which asks all that
// are registered (distbench/base/plugins.h), after its own rules.
struct FindingRule {
  void (*judge)(const TestResult& result, FindingList& findings);

  // All codes of its findings, which nothing else has.
  std::vector<std::string> codes;
};

// Says whether what a product keeps in results beside the runs is false, as
// findings say of a run; a plug-in.
struct ValidityRule {
  bool (*is_invalid)(const TestSequenceResults& results);
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_PARTS_FINDING_RULE_H_
