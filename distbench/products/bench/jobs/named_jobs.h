// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Named jobs of a YAML file, each of which stands for a sequence of jobs:
//
//   - name: feedsim_fixed
//     description: The aggregator at a fixed rate
//     vars:
//       - qps=100          # with a default
//       - nodes            # must be given
//     args:
//       - run:infile={dir}/feed_aggregator.config,rate={qps}
//
// In args, {NAME} is replaced by a variable; {dir} is the folder of the file,
// and {{ and }} are braces.

#ifndef DISTBENCH_PRODUCTS_BENCH_JOBS_NAMED_JOBS_H_
#define DISTBENCH_PRODUCTS_BENCH_JOBS_NAMED_JOBS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::bench {

struct JobVariable {
  std::string name;
  std::optional<std::string> default_value;  // absent: must be given
};

struct NamedJob {
  std::string name;
  std::string description;
  std::vector<JobVariable> variables;
  std::vector<std::string> args;
};

// Parses `yaml`, which came from the file `source`. INVALID_ARGUMENT names the
// source and the line, and says what would be right. Names are unique.
absl::StatusOr<std::vector<NamedJob>> ParseNamedJobs(absl::string_view yaml,
                                                     absl::string_view source);

// For users: names with descriptions, and variables with their defaults.
std::string NamedJobsText(absl::Span<const NamedJob> jobs);

// NOT_FOUND suggests a name.
absl::StatusOr<NamedJob> FindNamedJob(absl::Span<const NamedJob> jobs,
                                      absl::string_view name);

// Parses a JSON object of texts, numbers, true and false, such as
// {"qps": 100}. An empty text is no values.
absl::StatusOr<std::map<std::string, std::string>> ParseVariableValues(
    absl::string_view json);

// Returns the args with all variables replaced. INVALID_ARGUMENT for a value
// of an unknown variable, a variable without a value, and wrong braces.
absl::StatusOr<std::vector<std::string>> ArgsOf(
    const NamedJob& job, const std::map<std::string, std::string>& values,
    absl::string_view folder);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_JOBS_NAMED_JOBS_H_
