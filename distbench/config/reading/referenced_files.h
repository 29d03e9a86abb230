#ifndef DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_
#define DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The most that a file that a test names may have. Configs travel to every
// node.
inline constexpr int64_t kMaxReferencedBytes = int64_t{8} << 20;

// Puts the contents of the files that the tests name (ExternalTls,
// ExternalCallSpec and RecordedArrivals) into the fields beside the names.
// Paths are relative to the folder of `config`, or to the current one if
// `config` is empty, and do not leave it. A content that is there already is
// kept, and its file not read. INVALID_ARGUMENT lists all files that cannot be
// read or must not be sent, one per line, with their fields.
absl::Status ReadReferencedFiles(const std::string& config,
                                 TestSequence& sequence);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_
