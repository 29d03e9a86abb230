// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_PATIENCE_H_
#define DISTBENCH_BASE_TESTING_PATIENCE_H_

#include "absl/time/time.h"

namespace distbench::base {

// For what takes no time, even if the host is busy.
inline constexpr absl::Duration kGenerous = absl::Seconds(20);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_PATIENCE_H_
