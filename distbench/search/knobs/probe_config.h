// A test as a probe of a search runs it.

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

// Makes the loops of main lists last for warm-up and measured time: open loops,
// closed loops that have a limit of time or none, and those that `is_turned`.
// Closed loops that end by a count, such as those that set something up, stay
// as they are, unless there are no others. Sets the test's timeout, has it keep
// no samples, which a search has no use for, and removes the config's `search`.
void TimeProbe(const ProbeTiming& timing,
               const std::function<bool(const Action& action)>& is_turned,
               DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_KNOBS_PROBE_CONFIG_H_
