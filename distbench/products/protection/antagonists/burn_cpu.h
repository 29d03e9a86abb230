// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_BURN_CPU_H_
#define DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_BURN_CPU_H_

#include <cstdint>
#include <memory>

#include "distbench/activity/activity.h"

namespace distbench::protection {

// What is computed with.
enum class Arithmetic {
  kInteger,        // 64 bits
  kFloatingPoint,  // doubles
  kVector,         // eight floats at a time
};

// Each iteration does this many steps of two or three arithmetic instructions,
// which touch no memory. operations must be at least 1.
std::unique_ptr<activity::Activity> MakeBurnCpu(Arithmetic arithmetic,
                                                int64_t operations,
                                                uint64_t seed);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_ANTAGONISTS_BURN_CPU_H_
