// An output file that appears only when it is complete.
//
//   auto file = OutputFile::Open(path);
//   ... write to (*file)->fd() ...
//   absl::Status status = (*file)->Commit();

#ifndef DISTBENCH_RESULTS_OUTPUT_FILE_H_
#define DISTBENCH_RESULTS_OUTPUT_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace distbench {

// Writes to a temporary file in the directory of the destination, which gets
// the destination's name at Commit(). What had that name before stays until
// then, and for good without a Commit(). Symbolic links are followed.
//
// Anything but a regular file cannot be replaced: pipes and devices are written
// directly, and "/dev/stdout" and "/dev/stderr" mean the process's own streams,
// at their current position.
class OutputFile {
 public:
  // The error names the path.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path);

  // Removes the temporary file, unless it was committed.
  ~OutputFile();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The descriptor to write to; owned by this object.
  int fd() const { return fd_; }

  // Once: puts the file on the disk and in its place. The error names the path.
  absl::Status Commit();

 private:
  OutputFile(std::string path, int fd, std::string temporary_path,
             std::string target_path);

  const std::string path_;  // as given by the user
  int fd_;
  // Both are empty if fd_ is the destination itself.
  std::string temporary_path_;
  const std::string target_path_;
};

// The status for an error while writing to `path`.
absl::Status WriteError(const std::string& path, int error_number);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_OUTPUT_FILE_H_
