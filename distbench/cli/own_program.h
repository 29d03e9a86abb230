#ifndef DISTBENCH_CLI_OWN_PROGRAM_H_
#define DISTBENCH_CLI_OWN_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"

namespace distbench::cli {

// The path of this program, with which other commands of it can be started.
absl::StatusOr<std::string> OwnProgram();

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_OWN_PROGRAM_H_
