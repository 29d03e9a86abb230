// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Files that tests name.

#ifndef DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_
#define DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The most that a file that a test names may have. Configs travel to every
// node.
inline constexpr int64_t kMaxReferencedBytes = int64_t{8} << 20;

// Reads files whose paths are relative to the folder of a config, or to the
// current one if `config` is empty, and do not leave it.
class FileReader {
 public:
  // `problems` must outlive this.
  FileReader(const std::string& config, Problems& problems);

  // Puts what is in `file`, which `field` of the message at `path` names, into
  // `content`. Adds a problem if that is impossible. A content that is there
  // already is kept, and the file not read.
  void Fill(const Path& path, const char* field, const std::string& file,
            std::string& content);

  Problems& problems() const { return problems_; }

 private:
  const std::filesystem::path folder_;
  Problems& problems_;
};

// Puts the contents of the files that the tests name (RecordedArrivals, and
// those of products) into the fields beside the names, by a FileReader.
// Returns a problem for each file that cannot be read or must not be sent.
std::vector<Problem> ReadReferencedFiles(const std::string& config,
                                         TestSequence& sequence);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_READING_REFERENCED_FILES_H_
