// Files that may be compressed.

#ifndef DISTBENCH_RESULTS_UNCOMPRESSED_FILE_H_
#define DISTBENCH_RESULTS_UNCOMPRESSED_FILE_H_

#include <zlib.h>

#include "absl/status/status.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace distbench::results {

// The bytes of a file, uncompressed if it is a gzip file. Not thread-safe.
class UncompressedFile final : public google::protobuf::io::CopyingInputStream {
 public:
  // Takes ownership of the descriptor.
  explicit UncompressedFile(int fd);
  ~UncompressedFile() override;

  int Read(void* buffer, int size) override;

  // The status of reading so far, without the file's name: DATA_LOSS if the
  // compressed data is damaged or ends too early.
  absl::Status status() const;

 private:
  const gzFile file_;
  int errno_ = 0;
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_UNCOMPRESSED_FILE_H_
