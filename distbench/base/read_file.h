#ifndef DISTBENCH_BASE_READ_FILE_H_
#define DISTBENCH_BASE_READ_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace distbench {

// Far above the size of any file that is read as a whole; guards against files
// that never end.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 28;

// Returns the bytes of a file, pipe or device; "-" is standard input. The error
// names the path and says what is wrong with it.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes = kMaxFileBytes);

}  // namespace distbench

#endif  // DISTBENCH_BASE_READ_FILE_H_
