// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Jobs as users write them: `protection:id=iocost-off,passive=io`.
//
//   job   = KIND [ ":" pair { "," pair } ]
//   pair  = KEY "=" value
//   value = text without commas and double quotes,
//           or a text in double quotes, in which a backslash precedes each
//           double quote and each backslash

#ifndef DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_SPEC_H_
#define DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace distbench::bench {

// What kinds of jobs there are, as their users see them: names, properties and
// defaults. Checks, error messages and help follow from these declarations.

enum class PropertyType {
  kText,
  kFlag,      // "true" or "false"
  kCount,     // a whole number, at least 1
  kNumber,    // positive, such as "0.5"
  kDuration,  // positive, such as "10s"
  kSize,      // positive, such as "1GiB"
};

struct JobProperty {
  std::string name;
  PropertyType type = PropertyType::kText;
  std::string description;

  // Valid for the type. Empty: no default.
  std::string default_value = "";
  bool is_required = false;
};

struct JobDeclaration {
  std::string kind;
  std::string description;
  std::vector<JobProperty> properties;
};

// The properties that all kinds have: id, passive, repeat and keep_going.
const std::vector<JobProperty>& CommonProperties();

// INVALID_ARGUMENT says what a value of this type looks like.
absl::Status CheckPropertyValue(const JobProperty& property,
                                absl::string_view value);

// The checked properties of a job, with defaults. Reading one as another type
// than the declared one, or one that is not declared, gives a zero value. The
// declaration must outlive this object.
class PropertyValues {
 public:
  PropertyValues(const JobDeclaration& declaration,
                 std::map<std::string, std::string> given)
      : declaration_(declaration), given_(std::move(given)) {}

  // Empty if there is neither a value nor a default.
  std::string Text(absl::string_view name) const;

  bool Flag(absl::string_view name) const;

  // Absent if there is neither a value nor a default.
  std::optional<int> Count(absl::string_view name) const;
  std::optional<double> Number(absl::string_view name) const;
  std::optional<absl::Duration> Duration(absl::string_view name) const;
  std::optional<int64_t> Size(absl::string_view name) const;

 private:
  const JobDeclaration& declaration_;
  const std::map<std::string, std::string> given_;
};

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
