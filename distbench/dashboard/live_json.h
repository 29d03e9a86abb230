#ifndef DISTBENCH_DASHBOARD_LIVE_JSON_H_
#define DISTBENCH_DASHBOARD_LIVE_JSON_H_

#include <cstdint>
#include <string>

#include "distbench/dashboard/live_source.h"

namespace distbench {

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

// Returns the object of /api/status (docs/dashboard.md) on one line.
std::string LiveJson(const LiveStatus& status, double per_second);

}  // namespace distbench

#endif  // DISTBENCH_DASHBOARD_LIVE_JSON_H_
