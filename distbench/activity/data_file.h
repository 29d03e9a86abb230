// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Files for activities: without a name, and with known content.

#ifndef DISTBENCH_ACTIVITY_DATA_FILE_H_
#define DISTBENCH_ACTIVITY_DATA_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/base/files.h"
#include "distbench/config/catalogs/activity_catalog.h"

namespace distbench::activity {

// The unit of reading and writing, aligned as direct I/O needs it.
struct alignas(config::kFilePageBytes) FilePage {
  std::array<uint64_t, config::kFilePageBytes / sizeof(uint64_t)> words;
};

inline constexpr int64_t PagesFor(int64_t bytes) {
  return (bytes + config::kFilePageBytes - 1) / config::kFilePageBytes;
}

// Fills pages with what those from number `first` on contain. It looks random,
// so that nothing can compress it, and depends only on seed and number: what a
// read returns does not depend on earlier writes.
void FillPages(uint64_t seed, int64_t first, absl::Span<FilePage> pages);

// Depends on every page, but not on their order.
uint64_t ChecksumOf(absl::Span<const FilePage> pages);

struct DataFileOptions {
  // An existing directory in which this process may create files.
  std::string directory;
  int64_t pages = 1;

  // Reads and writes bypass the page cache.
  bool is_direct = false;

  // The file has the content of FillPages(); otherwise, its content is
  // undefined until it is written, and only its space is reserved.
  bool is_filled = true;
  uint64_t seed = 0;
};

// A file that vanishes with the last process that has it open, however that
// ends. Its space is reserved, and its content, if any, is on the device. As
// much of it as fits is in the page cache at first, unless I/O is direct: then
// none is. Thread-safe.
class DataFile {
 public:
  // Takes as long as the disk takes to write the content. The error names the
  // directory and what it lacks: RESOURCE_EXHAUSTED if that is space.
  static absl::StatusOr<DataFile> Create(const DataFileOptions& options);

  int64_t page_count() const { return pages_; }

  // Read or write whole pages from number `first` on, all of which must be in
  // the file. Return false if the system does not do all of it.
  bool Read(int64_t first, absl::Span<FilePage> pages) const;
  bool Write(int64_t first, absl::Span<const FilePage> pages) const;

  // Appends and overwrites at any byte; only if not direct.
  bool WriteBytes(int64_t offset, absl::Span<const char> data) const;

  // Waits until all that was written is on the device.
  bool Sync() const;

 private:
  DataFile(base::FileDescriptor file, int64_t pages)
      : file_(std::move(file)), pages_(pages) {}

  absl::Status Prepare(const DataFileOptions& options) const;

  base::FileDescriptor file_;
  int64_t pages_;
};

// A file that all who use the same name and options share, also concurrently.
// `name` tells the files of different activities apart. Thread-safe.
using SharedDataFile = std::shared_ptr<const absl::StatusOr<DataFile>>;
SharedDataFile ShareDataFile(const std::string& name,
                             const DataFileOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_DATA_FILE_H_
