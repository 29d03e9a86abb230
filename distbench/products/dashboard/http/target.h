// The target of a request: its path and the parameters of its query.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_TARGET_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_TARGET_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::dashboard {

struct Target {
  // As sent, such as "/results/0-0.json". Nothing is decoded in paths, because
  // no path of ours needs it.
  std::string path;

  // Decoded, in the order in which they were sent.
  std::multimap<std::string, std::string> parameters;
};

// Splits "PATH?NAME=VALUE&...". INVALID_ARGUMENT if it does not begin with "/",
// or if an escape in the query is wrong or stands for a control character.
absl::StatusOr<Target> SplitTarget(absl::string_view target);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_TARGET_H_
