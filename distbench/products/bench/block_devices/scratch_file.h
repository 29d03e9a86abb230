// A file of random bytes on which a disk is measured.

#ifndef DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_SCRATCH_FILE_H_
#define DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_SCRATCH_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/products/bench/block_devices/io_phase.h"

namespace distbench::bench {

// Reads and writes go to the device, past the page cache. The file has no name,
// so that it disappears with the process, however that ends.
class ScratchFile {
 public:
  struct Options {
    std::string folder;
    int64_t size_bytes = 0;
    int64_t largest_block_bytes = 0;  // a multiple of 4 KiB
    int threads = 1;
    std::function<bool()> is_cancelled;
  };

  // Writes the whole file, rounded down to whole blocks. The error names the
  // folder and what it lacks: space, permission, or direct I/O (memory file
  // systems have none). CANCELLED if it was.
  static absl::StatusOr<std::unique_ptr<ScratchFile>> Create(
      const Options& options);

  int64_t size_bytes() const { return size_bytes_; }

  // An operation of a phase. Thread-safe for different `operation.thread`s.
  absl::Status Run(const IoOperation& operation);

 private:
  ScratchFile(base::FileDescriptor file, std::string folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  absl::Status Fill(const Options& options);

  struct Free {
    void operator()(char* memory) const;
  };

  const base::FileDescriptor file_;
  const std::string folder_;
  int64_t size_bytes_ = 0;
  std::vector<std::unique_ptr<char, Free>> buffers_;  // one for each thread
};

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_BLOCK_DEVICES_SCRATCH_FILE_H_
