#include "distbench/activity/many_functions.h"

#include <array>
#include <utility>

namespace distbench {
namespace {

using Function = uint64_t (*)(uint64_t);

// One of many functions. Its constants differ from those of all others, so that
// the compiler cannot merge them. Aligned to a cache line, so that each call
// touches different lines.
template <int kNumber>
__attribute__((noinline, aligned(64))) uint64_t Scramble(uint64_t value) {
  value ^= value >> (7 + kNumber % 23);
  value *= 0x9e3779b97f4a7c15u + 2 * uint64_t{kNumber};
  return value + kNumber;
}

template <int... kNumbers>
constexpr std::array<Function, sizeof...(kNumbers)> AllFunctions(
    std::integer_sequence<int, kNumbers...>) {
  return {&Scramble<kNumbers>...};
}

constexpr std::array<Function, kManyFunctions> kFunctions =
    AllFunctions(std::make_integer_sequence<int, kManyFunctions>());

}  // namespace

uint64_t CallFunction(uint64_t which, uint64_t value) {
  return kFunctions[which](value);
}

}  // namespace distbench
