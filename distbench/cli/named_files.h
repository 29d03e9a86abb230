// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The files that a command line names, before any of them is opened.

#ifndef DISTBENCH_CLI_NAMED_FILES_H_
#define DISTBENCH_CLI_NAMED_FILES_H_

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace distbench::cli {

// Refuses a parsed command line whose output would overwrite what the command
// reads, or another output of it: both flags are in the error. Files are the
// same by what they are, not by their names: links do not hide it. Standard
// input counts as what is read, directories of results as the files that are
// read of them. Pipes and devices, /dev/stdout among them, can be written
// several times.
absl::Status CheckNamedFiles(CLI::App& command);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_NAMED_FILES_H_
