#ifndef DISTBENCH_CLI_REPORT_OUTPUT_H_
#define DISTBENCH_CLI_REPORT_OUTPUT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/results/output_file.h"

namespace distbench {

// Where a report goes, a piece at a time.
class ReportOutput {
 public:
  // An empty path is stdout. A file appears when it is complete.
  static absl::StatusOr<ReportOutput> Open(const std::string& path);

  // After an error, does nothing.
  void Write(absl::string_view bytes);

  // Once, at the end: whether all of it was written.
  absl::Status Finish();

 private:
  ReportOutput(std::string path, std::unique_ptr<OutputFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::unique_ptr<OutputFile> file_;
  absl::Status status_;
};

}  // namespace distbench

#endif  // DISTBENCH_CLI_REPORT_OUTPUT_H_
