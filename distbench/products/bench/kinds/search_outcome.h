// Names of what a search found.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCH_OUTCOME_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCH_OUTCOME_H_

namespace distbench::bench {

// How the search ended.
inline constexpr char kVerdict[] = "verdict";

// The load, in the unit of the knob.
inline constexpr char kFoundLoad[] = "load";

// The load as a multiple of the config's own; only if the knob is the rate, and
// the load the most that one system carries.
inline constexpr char kRateFactor[] = "rate_factor";

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_SEARCH_OUTCOME_H_
