#ifndef DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_FINDINGS_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_FINDINGS_H_

#include "absl/strings/string_view.h"
#include "distbench/report/parts/finding_rule.h"
#include "proto/results.pb.h"

namespace distbench::external {

// The parts of a report::FindingRule: what a result says less of because
// servers are external.
void JudgeExternalCalls(const TestResult& result,
                        report::FindingList& findings);
absl::string_view AdviceForExternalCalls(absl::string_view code);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_FINDINGS_H_
