// Jobs as users write them: `protection:id=iocost-off,passive=io`.
//
//   job   = KIND [ ":" pair { "," pair } ]
//   pair  = KEY "=" value
//   value = text without commas and double quotes,
//           or a text in double quotes, in which a backslash precedes each
//           double quote and each backslash

#ifndef DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_SPEC_H_
#define DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_SPEC_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/bench/jobs/job_declaration.h"

namespace distbench::bench {

struct JobSpec {
  std::string kind;
  std::string id;

  // Those of the kind, as they were given.
  std::map<std::string, std::string> properties;

  std::vector<std::string> passive;  // sorted, each once
  int repeat = 1;
  bool keep_going = false;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// INVALID_ARGUMENT quotes the job, and says what is wrong with it and what
// would be right: the grammar, an unknown kind or property, a property given
// twice or missing, or a wrong value.
absl::StatusOr<JobSpec> ParseJobSpec(
    absl::string_view text, absl::Span<const JobDeclaration> declarations);

// The same job as text; ParseJobSpec() reads it back.
std::string ToText(const JobSpec& spec);

// Whether the text may be the kind or the id of a job: letters, digits, '_',
// '-' and '.', or nothing. Such names become those of files, and lead nowhere
// else.
bool IsJobName(absl::string_view name);

// `protection "iocost-on"`, or the kind alone if there is no id.
std::string JobTitle(absl::string_view kind, absl::string_view id);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_SPEC_H_
