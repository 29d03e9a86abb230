// The result file of a sequence of jobs.

#ifndef DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_
#define DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "proto/bench.pb.h"

namespace distbench::bench {

// Reads a file, compressed or not. All RPC logs have valid statistics (see
// results/result_file.h). The error names the path: NOT_FOUND or similar if it
// cannot be read, INVALID_ARGUMENT if it is not such a file or of a later
// version, DATA_LOSS if it is damaged.
absl::StatusOr<BenchFile> ReadBenchFile(const std::string& path);

// Writes a file, compressed if its name ends in ".gz". It appears only when it
// is complete and on disk; an existing file stays until then.
absl::Status WriteBenchFile(const BenchFile& file, const std::string& path);

// The result file that a sequence works on, in the hands of one process. Not
// thread-safe.
class OpenBenchFile {
 public:
  // Reads the file, or begins a new one if there is none; nothing is written.
  // Besides the errors of ReadBenchFile(): FAILED_PRECONDITION if another
  // process has it open.
  static absl::StatusOr<std::unique_ptr<OpenBenchFile>> Open(
      const std::string& path);

  // Lets other processes open the file; does not save it.
  ~OpenBenchFile();

  OpenBenchFile(const OpenBenchFile&) = delete;
  OpenBenchFile& operator=(const OpenBenchFile&) = delete;

  const std::string& path() const { return path_; }
  BenchFile& content() { return content_; }

  // As WriteBenchFile().
  absl::Status Save() const;

 private:
  OpenBenchFile(std::string path, std::string lock_path,
                base::FileDescriptor lock)
      : path_(std::move(path)),
        lock_path_(std::move(lock_path)),
        lock_(std::move(lock)) {}

  const std::string path_;
  const std::string lock_path_;
  const base::FileDescriptor lock_;
  BenchFile content_;
};

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_
