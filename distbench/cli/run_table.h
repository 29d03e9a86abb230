// The runs of a sequencer, for people and for programs.

#ifndef DISTBENCH_CLI_RUN_TABLE_H_
#define DISTBENCH_CLI_RUN_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/control.pb.h"

namespace distbench {

// A line for each run, below a line that says what its columns are. Times are
// UTC.
std::string RunTable(const std::vector<RunDescription>& runs);

// {"runs": [...]}: what RunDescription says, by its field names; states in
// lower case, times as RFC 3339 in UTC.
std::string RunsJson(const std::vector<RunDescription>& runs);

// The text without what would move the cursor: others have written it.
std::string Printable(absl::string_view text);

// "test1, test2 and 3 more", on one line whatever the names hold.
std::string DescribeTests(const RunDescription& run);

}  // namespace distbench

#endif  // DISTBENCH_CLI_RUN_TABLE_H_
