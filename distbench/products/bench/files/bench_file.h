// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The result file of a sequence of jobs.

#ifndef DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_
#define DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/results/file_lock.h"
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

// The result file that a sequence works on, in the hands of one process until
// the object ends, which does not save it. Not thread-safe.
class OpenBenchFile {
 public:
  // Reads the file, or begins a new one if there is none; nothing is written.
  // Besides the errors of ReadBenchFile(): FAILED_PRECONDITION if another
  // process has it open.
  static absl::StatusOr<std::unique_ptr<OpenBenchFile>> Open(
      const std::string& path);

  const std::string& path() const { return path_; }
  BenchFile& content() { return content_; }

  // As WriteBenchFile().
  absl::Status Save() const;

 private:
  OpenBenchFile(std::string path, std::unique_ptr<results::FileLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::string path_;
  const std::unique_ptr<results::FileLock> lock_;
  BenchFile content_;
};

// Which jobs are the same, and which belong together.

// What was asked for, as text: kind, id, passive controls and properties. Equal
// for the repetitions of a job.
std::string RequestOf(const JobSpec& spec);
std::string RequestOf(const BenchJob& job);

// Writes the request and the number of the repetition into a new job.
void SetIdentity(const JobSpec& spec, int repetition, BenchJob& job);

// Jobs with equal keys can be compared: the same request and tests, on block
// devices of the same models.
std::string GroupKeyOf(const BenchJob& job);

// Merges the result files of several hosts or days.

struct SourcedBenchFile {
  std::string source;
  BenchFile file;
};

struct MergedBenchFile {
  BenchFile file;

  // Jobs that were left out because they are not done, one sentence each.
  std::vector<std::string> left_out;
};

// Returns the done jobs of all files, each with its origin. Jobs that can be
// compared (see GroupKeyOf()) become repetitions of one job, next to each
// other. INVALID_ARGUMENT if there is no such job, or if a job is in several
// files. FAILED_PRECONDITION, unless `force`, if requirements of a job were
// missed.
absl::StatusOr<MergedBenchFile> MergeBenchFiles(
    absl::Span<const SourcedBenchFile> sources, bool force);

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_FILES_BENCH_FILE_H_
