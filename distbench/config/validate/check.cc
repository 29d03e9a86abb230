#include "distbench/config/validate/check.h"

#include "absl/status/status.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/canonicalize.h"
#include "distbench/config/validate/validate.h"

namespace distbench {

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence) {
  Canonicalize(sequence);
  absl::Status status = ToStatus(Validate(sequence));
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace distbench
