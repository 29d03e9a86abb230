#ifndef DISTBENCH_CLI_REPORT_OUTPUT_H_
#define DISTBENCH_CLI_REPORT_OUTPUT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/results/output_file.h"

namespace distbench {

// The destination of a report, which is written piece by piece.
class ReportOutput {
 public:
  // An empty path means stdout. A file appears only once it is complete.
  static absl::StatusOr<ReportOutput> Open(const std::string& path);

  // Does nothing after an error.
  void Write(absl::string_view bytes);

  // Ends the report. Call it once. Returns the first error of any write.
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
