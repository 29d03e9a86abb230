#ifndef DISTBENCH_CLI_ERROR_OUTPUT_H_
#define DISTBENCH_CLI_ERROR_OUTPUT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Tells the user on stderr what is wrong, and returns the exit code.
int Fail(const absl::Status& error, int exit_code);
int Fail(absl::string_view message, int exit_code);

}  // namespace distbench

#endif  // DISTBENCH_CLI_ERROR_OUTPUT_H_
