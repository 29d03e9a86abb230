// JUnit XML, which CI systems show.

#ifndef DISTBENCH_REPORT_VERDICTS_JUNIT_H_
#define DISTBENCH_REPORT_VERDICTS_JUNIT_H_

#include <string>

#include "absl/types/span.h"

namespace distbench::report {

struct JunitCase {
  enum class Outcome {
    kPass,
    kFailure,
    kError,  // what should have been judged is not valid
    kSkipped,
  };

  std::string suite;
  std::string name;
  Outcome outcome;

  // What was found.
  std::string message;
};

// Returns a test suite for each name of one, in order of appearance.
std::string RenderJunit(absl::Span<const JunitCase> cases);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_VERDICTS_JUNIT_H_
