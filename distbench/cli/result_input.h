#ifndef DISTBENCH_CLI_RESULT_INPUT_H_
#define DISTBENCH_CLI_RESULT_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench {

// The results of files, and of the files *.pb and *.pb.gz of directories,
// sorted by name.
absl::StatusOr<std::vector<SourcedResults>> ReadResultFiles(
    const std::vector<std::string>& paths);

// The exit code for all of them.
int ExitCodeForAll(const std::vector<SourcedResults>& results);

}  // namespace distbench

#endif  // DISTBENCH_CLI_RESULT_INPUT_H_
