#include "distbench/config/check.h"

#include "absl/status/status.h"
#include "distbench/config/canonicalize.h"
#include "distbench/config/problem.h"
#include "distbench/config/validate.h"

namespace distbench {

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence) {
  Canonicalize(sequence);
  absl::Status status = ToStatus(Validate(sequence));
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace distbench
