// Adapts a test to run as a probe of a search.

#ifndef DISTBENCH_SEARCH_KNOBS_PROBE_CONFIG_H_
#define DISTBENCH_SEARCH_KNOBS_PROBE_CONFIG_H_

#include <functional>

#include "absl/time/time.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct ProbeTiming {
  absl::Duration warmup;
  absl::Duration measured;  // after the warm-up
};

// Makes the loops of main lists last for the warm-up and the measured time:
// open loops, closed loops with a time limit or no limit, and loops for which
// `is_turned` is true. Closed loops that end by a count, for example during
// set-up, stay as they are, unless there are no other loops. Sets the test's
// timeout, disables samples, which a search does not use, and removes the
// config's `search`.
void TimeProbe(const ProbeTiming& timing,
               const std::function<bool(const Action& action)>& is_turned,
               DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_KNOBS_PROBE_CONFIG_H_
