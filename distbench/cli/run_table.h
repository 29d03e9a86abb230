// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shows the runs of a sequencer to people and to programs.

#ifndef DISTBENCH_CLI_RUN_TABLE_H_
#define DISTBENCH_CLI_RUN_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/control.pb.h"

namespace distbench::cli {

// Returns a heading and one line per run. Times are UTC.
std::string RunTable(const std::vector<RunDescription>& runs);

// Returns {"runs": [...]} with the fields of RunDescription by name. States are
// in lower case, times in RFC 3339 and UTC.
std::string RunsJson(const std::vector<RunDescription>& runs);

// Returns text such as "test1, test2 and 3 more", always on one line.
std::string DescribeTests(const RunDescription& run);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_RUN_TABLE_H_
