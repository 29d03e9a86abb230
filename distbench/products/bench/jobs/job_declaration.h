// What kinds of jobs there are, as their users see them: names, properties and
// defaults. Checks, error messages and help follow from these declarations.

#ifndef DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_DECLARATION_H_
#define DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_DECLARATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace distbench::bench {

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

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_JOBS_JOB_DECLARATION_H_
