#include "distbench/config/check.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/config/canonicalize.h"
#include "distbench/config/problem.h"
#include "distbench/config/support.h"
#include "distbench/config/validate.h"

namespace distbench {

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence) {
  Canonicalize(sequence);
  std::vector<Problem> problems = Validate(sequence);
  for (Problem& problem : UnsupportedFeatures(sequence)) {
    problems.push_back(std::move(problem));
  }
  absl::Status status = ToStatus(problems);
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace distbench
