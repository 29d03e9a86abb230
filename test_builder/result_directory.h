// The directory of -o: a config and a result per test.

#ifndef DISTBENCH_TEST_BUILDER_RESULT_DIRECTORY_H_
#define DISTBENCH_TEST_BUILDER_RESULT_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Files appear when they are complete. Errors name the path and the reason.
class ResultDirectory {
 public:
  // label: begins the name of every file. config_header: the first line of
  // every config.
  ResultDirectory(absl::string_view path, absl::string_view label,
                  absl::string_view config_header);

  // Makes the directory if it is missing; returns whether it was.
  absl::StatusOr<bool> Create() const;

  std::string ConfigPath(absl::string_view test_name) const;
  std::string ResultPath(absl::string_view test_name) const;

  // What a failed test measured is kept apart, so that the test runs again.
  std::string FailedResultPath(absl::string_view test_name) const;

  // Of several tests together.
  std::string SequencePath() const;

  bool HasResult(absl::string_view test_name) const;

  absl::Status WriteConfig(const DistributedSystemDescription& test) const;
  absl::Status WriteSequence(
      absl::Span<const DistributedSystemDescription> tests) const;

  // Whether the config on disk is of another test than this one, apart from its
  // label. A missing or unreadable one is.
  bool HasOtherConfig(const DistributedSystemDescription& test) const;

  // Stores the result; a failure of that test before is forgotten.
  absl::Status WriteResult(absl::string_view test_name,
                           const TestSequenceResults& results) const;
  absl::Status WriteFailedResult(absl::string_view test_name,
                                 const TestSequenceResults& results) const;

  // The one result of a file that WriteResult() made.
  absl::StatusOr<TestResult> ReadResult(absl::string_view test_name) const;

 private:
  std::string FilePath(absl::string_view name, absl::string_view suffix) const;

  const std::string path_;
  const std::string label_;
  const std::string config_header_;
};

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_RESULT_DIRECTORY_H_
