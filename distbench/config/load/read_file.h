#ifndef DISTBENCH_CONFIG_LOAD_READ_FILE_H_
#define DISTBENCH_CONFIG_LOAD_READ_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace distbench {

// Far larger than any config. Protects against endless files.
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 28;

// Reads a file, pipe or device; "-" means standard input. Errors name the path
// and the reason.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_LOAD_READ_FILE_H_
