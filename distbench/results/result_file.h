// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads and writes result files, which hold the canonical result.
//
//   absl::StatusOr<TestSequenceResults> results = ReadResults("result.pb.gz");

#ifndef DISTBENCH_RESULTS_RESULT_FILE_H_
#define DISTBENCH_RESULTS_RESULT_FILE_H_

#include <zlib.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/results.pb.h"

namespace distbench::results {

// The bytes of a file, uncompressed if it is a gzip file. Not thread-safe.
class UncompressedFile final : public google::protobuf::io::CopyingInputStream {
 public:
  // Takes ownership of the descriptor.
  explicit UncompressedFile(int fd);
  ~UncompressedFile() override;

  int Read(void* buffer, int size) override;

  // The first error of reading so far, without the file's name: DATA_LOSS if
  // the compressed data is damaged or ends too early.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status LastStatus() const;

  const gzFile file_;
  absl::Status status_;
};

// Writes a file as OutputFile does, compressed with gzip if its name ends in
// ".gz". print() writes the content, and returns false after an error.
absl::Status WriteStream(
    const std::string& path,
    absl::FunctionRef<bool(google::protobuf::io::ZeroCopyOutputStream& stream)>
        print);

enum class ResultEncoding { kText, kBinary };

// Writes the results, compressed with gzip if the path ends in ".gz". The file
// appears only when it is complete and on disk; an existing file stays until
// then. Paths that are not regular files (/dev/stdout, a pipe) are written
// directly.
//
// The error names the path and the reason, for example a full disk, a missing
// directory, or results that exceed the 2 GiB limit of protocol buffers.
absl::Status WriteResults(const TestSequenceResults& results,
                          const std::string& path, ResultEncoding encoding);

// Reads either encoding, compressed or not, whatever the file's name. All RPC
// logs of the result have valid statistics: missing ones are computed from
// samples (see legacy_results.h), and invalid ones are an error.
//
// The error names the path, and the line if it is text: NOT_FOUND or similar if
// the file cannot be read, INVALID_ARGUMENT if it is not a result, DATA_LOSS if
// it is truncated or damaged.
//
// Files that nobody has asked for by name, such as all files of a folder, have
// a limit. RESOURCE_EXHAUSTED if the file has more than `max_bytes`,
// uncompressed, or if its messages take more than four times that in memory,
// where two bytes of a file can become hundreds. For the copy that is returned,
// twice this memory is in use for a moment.
inline constexpr int64_t kUnlimitedBytes = std::numeric_limits<int64_t>::max();
absl::StatusOr<TestSequenceResults> ReadResults(
    const std::string& path, int64_t max_bytes = kUnlimitedBytes);

// Makes results that were read fit for reports, as ReadResults() does.
// INVALID_ARGUMENT names the place of invalid statistics.
absl::Status CompleteResults(TestSequenceResults& results);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_RESULT_FILE_H_
