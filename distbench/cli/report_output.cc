#include "distbench/cli/report_output.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace distbench {

absl::StatusOr<ReportOutput> ReportOutput::Open(const std::string& path) {
  const std::string target = path.empty() ? "/dev/stdout" : path;
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Open(target);
  if (!file.ok()) return file.status();
  return ReportOutput(target, *std::move(file));
}

void ReportOutput::Write(absl::string_view bytes) {
  while (status_.ok() && !bytes.empty()) {
    const ssize_t written = write(file_->fd(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(written);
    } else if (errno != EINTR) {
      status_ = WriteError(path_, errno);
    }
  }
}

absl::Status ReportOutput::Finish() {
  if (!status_.ok()) return status_;
  return file_->Commit();
}

}  // namespace distbench
