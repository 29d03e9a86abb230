#ifndef DISTBENCH_BASE_TESTING_STATUS_TESTING_H_
#define DISTBENCH_BASE_TESTING_STATUS_TESTING_H_

#include <string>

#include "absl/status/status.h"

namespace distbench {

// What the error says, as a string for gMock's matchers: absl::string_view is a
// type of its own in some distributions' Abseil, which they do not know.
inline std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace distbench

#endif  // DISTBENCH_BASE_TESTING_STATUS_TESTING_H_
