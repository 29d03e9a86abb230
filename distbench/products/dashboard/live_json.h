#ifndef DISTBENCH_PRODUCTS_DASHBOARD_LIVE_JSON_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_LIVE_JSON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/dashboard/live_source.h"

namespace distbench::dashboard {

// The rate of succeeded RPCs of the running test, from one look to the next.
// Not thread-safe.
class LiveRate {
 public:
  // Returns RPCs per second since the counts of the last look; since the
  // beginning if the test is another one; 0 if none runs.
  double Update(const LiveStatus& status);

 private:
  std::string test_;  // which one was running
  int64_t succeeded_ = 0;
  int64_t traffic_time_ns_ = 0;
  double per_second_ = 0;
};

// The parts of the object of /api/status (docs/products/dashboard.md), on one
// line each. The nodes are many and change seldom, the rest is short and
// changes always.
std::string NodesJson(const LiveStatus& status);
std::string RunsJson(const LiveStatus& status, double per_second);

// Returns the object that has these parts.
std::string LiveJson(absl::string_view nodes, absl::string_view runs);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_LIVE_JSON_H_
