#include "distbench/results/uncompressed_file.h"

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace distbench::results {

UncompressedFile::UncompressedFile(int fd) : file_(gzdopen(fd, "rb")) {
  gzbuffer(file_, 1 << 17);
}

UncompressedFile::~UncompressedFile() { gzclose(file_); }

int UncompressedFile::Read(void* buffer, int size) {
  const int count = gzread(file_, buffer, size);
  if (count < 0) {
    errno_ = errno;
  }
  return count;
}

absl::Status UncompressedFile::status() const {
  int code = Z_OK;
  const char* message = gzerror(file_, &code);
  if (code == Z_OK || code == Z_STREAM_END) {
    return absl::OkStatus();
  }
  if (code == Z_ERRNO) {
    return absl::ErrnoToStatus(errno_, "read error");
  }
  if (code == Z_BUF_ERROR) {
    return absl::DataLossError("the compressed data ends too early");
  }
  return absl::DataLossError(
      absl::StrCat("the compressed data is damaged: ", message));
}

}  // namespace distbench::results
