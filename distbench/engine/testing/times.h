// Short names for times on the simulated clock, in nanoseconds.

#ifndef DISTBENCH_ENGINE_TESTING_TIMES_H_
#define DISTBENCH_ENGINE_TESTING_TIMES_H_

#include <cstdint>

namespace distbench::engine {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_TESTING_TIMES_H_
