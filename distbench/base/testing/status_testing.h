// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_STATUS_TESTING_H_
#define DISTBENCH_BASE_TESTING_STATUS_TESTING_H_

#include <string>

#include "absl/status/status.h"

namespace distbench::base {

// Returns the error message as a std::string for gMock's matchers, which do not
// know absl::string_view where it is a distinct type, as in some distributions'
// Abseil.
inline std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_STATUS_TESTING_H_
