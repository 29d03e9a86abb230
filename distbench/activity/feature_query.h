#ifndef DISTBENCH_ACTIVITY_FEATURE_QUERY_H_
#define DISTBENCH_ACTIVITY_FEATURE_QUERY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/activity/access_pattern.h"
#include "distbench/activity/activity.h"

namespace distbench::activity {

struct FeatureQueryOptions {
  // Activities with the same name and store share its file.
  std::string name;
  std::string directory;
  int64_t rows = 1;
  int64_t row_bytes = 8;  // rounded down to whole words; at most a page
  int64_t lookups = 1;    // per iteration
  AccessOptions access;   // of the rows
  bool is_direct = false;
  int parallelism = 1;
  uint64_t seed = 0;
};

// Reads rows of a store by their keys, one after the other. For each, the page
// that contains it is read; the time is that of the disk, unless the page cache
// has it. An iteration takes as long as its reads do, until EndSoon().
absl::StatusOr<std::unique_ptr<Activity>> MakeFeatureQuery(
    const FeatureQueryOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_FEATURE_QUERY_H_
