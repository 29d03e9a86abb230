// The values that completion offers, by the type of a flag or an argument.

#ifndef DISTBENCH_CLI_VALUE_CANDIDATES_H_
#define DISTBENCH_CLI_VALUE_CANDIDATES_H_

#include <vector>

#include "distbench/flags/completion.h"

namespace distbench::cli {

// Names in the files and at the sequencer that the words before name: runs,
// nodes, tests, RPCs, activities and so on. A ValueSource for the commands of
// distbench. Whatever cannot be read offers nothing. May take as long as a
// sequencer takes to answer.
std::vector<flags::Candidate> ValueCandidates(
    const flags::ValueRequest& request);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_VALUE_CANDIDATES_H_
