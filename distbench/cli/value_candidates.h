// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Completes the values of flags, by what a value is: "RUN", "SERVICE".

#ifndef DISTBENCH_CLI_VALUE_CANDIDATES_H_
#define DISTBENCH_CLI_VALUE_CANDIDATES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/flags/completion.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

// A type of values. A product adds those of its own flags as a
// base::Plugin<ValueType> under the type's name, such as "JOB".
struct ValueType {
  std::vector<flags::Candidate> (*find)(const flags::ValueRequest& request);
};

// Returns values of the type that the request names: of a test sequencer, of
// files that the command line names, or of what this program can do. Errors
// mean that there are none.
std::vector<flags::Candidate> ValueCandidates(
    const flags::ValueRequest& request);

// Returns the names that `collect` finds in the tests of the configs that the
// command line names.
std::vector<flags::Candidate> NamesInConfigs(
    const flags::ValueRequest& request,
    absl::FunctionRef<void(const DistributedSystemDescription& test,
                           std::set<std::string>& names)>
        collect);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_VALUE_CANDIDATES_H_
