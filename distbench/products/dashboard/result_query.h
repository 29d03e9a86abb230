#ifndef DISTBENCH_PRODUCTS_DASHBOARD_RESULT_QUERY_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_RESULT_QUERY_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/dashboard/http/target.h"
#include "distbench/products/history/history_types.h"

namespace distbench::dashboard {

// INVALID_ARGUMENT if the target has other parameters than these, or one of
// them several times, unless it is "attribute".
absl::Status CheckParameters(const Target& target,
                             std::initializer_list<absl::string_view> known);

// The value of a parameter; empty if there is none.
std::string ParameterOf(const Target& target, const std::string& name);

// Reads the parameters of /api/results (docs/products/dashboard.md).
// INVALID_ARGUMENT names the parameter that is wrong.
absl::StatusOr<history::ResultQuery> ReadResultQuery(const Target& target);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_RESULT_QUERY_H_
