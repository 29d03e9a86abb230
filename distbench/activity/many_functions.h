#ifndef DISTBENCH_ACTIVITY_MANY_FUNCTIONS_H_
#define DISTBENCH_ACTIVITY_MANY_FUNCTIONS_H_

#include <cstdint>

namespace distbench {

// More code than instruction caches can hold: distinct functions, each on its
// own cache lines.
inline constexpr int kManyFunctions = 10'000;

// Passes a value through function `which`, from 0 to kManyFunctions - 1.
uint64_t CallFunction(uint64_t which, uint64_t value);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_MANY_FUNCTIONS_H_
