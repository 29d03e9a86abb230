// Detects runs that were too short: their latencies were still growing.

#ifndef DISTBENCH_REPORT_OBJECTIVES_GROWTH_H_
#define DISTBENCH_REPORT_OBJECTIVES_GROWTH_H_

#include "absl/types/span.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {

// Fewer blocks do not show whether latencies grew.
inline constexpr size_t kFewestForGrowth = 4;

// Whether the mean latencies of the second half of consecutive blocks are above
// those of the first half by more than chance explains: by three standard
// errors of the difference (B. L. Welch, The Generalization of "Student's"
// Problem when Several Different Population Variances are Involved, Biometrika
// 34 (1947) 28-35). False if there are too few blocks with latencies.
//
// A queue that starts empty approaches its steady latency from below, and that
// of an overloaded system has none. Such a run measures less than a longer one.
bool HasGrown(absl::Span<const stats::Outcomes> blocks);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_GROWTH_H_
