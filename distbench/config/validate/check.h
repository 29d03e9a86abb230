#ifndef DISTBENCH_CONFIG_VALIDATE_CHECK_H_
#define DISTBENCH_CONFIG_VALIDATE_CHECK_H_

#include "absl/status/statusor.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The gate that every test passes before it runs: canonicalises the sequence,
// validates it and makes sure that the engine can run all of it. Returns the
// canonical sequence, each test of which Compile() accepts. INVALID_ARGUMENT
// lists every problem, one per line, as "path: what is wrong; what would be
// right".
absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_CHECK_H_
