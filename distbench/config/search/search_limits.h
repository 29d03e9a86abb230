// Limits of a load search's settings, in configs and on the command line.

#ifndef DISTBENCH_CONFIG_SEARCH_SEARCH_LIMITS_H_
#define DISTBENCH_CONFIG_SEARCH_SEARCH_LIMITS_H_

namespace distbench {

inline constexpr double kMaxSearchLoad = 1e12;
inline constexpr double kMinSearchTolerance = 0.001;
inline constexpr double kMaxSearchTolerance = 0.5;
inline constexpr int kMinSearchProbes = 3;
inline constexpr int kMaxSearchProbes = 1000;

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_SEARCH_SEARCH_LIMITS_H_
