#ifndef DISTBENCH_CLI_ERROR_OUTPUT_H_
#define DISTBENCH_CLI_ERROR_OUTPUT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Prints the error to stderr, and returns `exit_code`.
int Fail(const absl::Status& error, int exit_code);
int Fail(absl::string_view message, int exit_code);

}  // namespace distbench

#endif  // DISTBENCH_CLI_ERROR_OUTPUT_H_
