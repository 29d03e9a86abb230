#ifndef DISTBENCH_CONFIG_VALIDATE_CHECK_H_
#define DISTBENCH_CONFIG_VALIDATE_CHECK_H_

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The gate that every test passes before it runs: canonicalises the sequence,
// validates it, and makes sure that the engine supports it. Returns the
// canonical sequence; Compile() accepts each of its tests. INVALID_ARGUMENT
// lists all problems, one per line, as "path: what is wrong; what would be
// right".
absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_CHECK_H_
