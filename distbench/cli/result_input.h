#ifndef DISTBENCH_CLI_RESULT_INPUT_H_
#define DISTBENCH_CLI_RESULT_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// Reads result files. A directory stands for its *.pb and *.pb.gz files, sorted
// by name.
absl::StatusOr<std::vector<SourcedResults>> ReadResultFiles(
    const std::vector<std::string>& paths);

// Returns the most severe exit code of the results.
int ExitCodeForAll(const std::vector<SourcedResults>& results);

}  // namespace distbench

#endif  // DISTBENCH_CLI_RESULT_INPUT_H_
