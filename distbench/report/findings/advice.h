// What to do about findings.

#ifndef DISTBENCH_REPORT_FINDINGS_ADVICE_H_
#define DISTBENCH_REPORT_FINDINGS_ADVICE_H_

#include "absl/strings/string_view.h"

namespace distbench::report {

// Returns the next step after a finding with this code, in one or two
// sentences. Empty if the code is unknown.
absl::string_view AdviceFor(absl::string_view code);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_ADVICE_H_
