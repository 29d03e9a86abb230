// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The directory of -o, with a config and a result per test.

#ifndef DISTBENCH_TEST_BUILDER_RUN_RESULT_DIRECTORY_H_
#define DISTBENCH_TEST_BUILDER_RUN_RESULT_DIRECTORY_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/reading/config_format.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Files appear only when they are complete. Errors name the path and the
// reason.
class ResultDirectory {
 public:
  // Every file name begins with `label`. `config_header` is the first line of
  // every config that can have one (ConfigFile()).
  ResultDirectory(absl::string_view path, absl::string_view label,
                  absl::string_view config_header,
                  config::ConfigFormat format = config::ConfigFormat::kText);

  // Creates the directory if it is missing; returns whether it did.
  absl::StatusOr<bool> Create() const;

  std::string ConfigPath(absl::string_view test_name) const;
  std::string ResultPath(absl::string_view test_name) const;

  // Results of tests that failed, or whose numbers are false, have a separate
  // file, so that the test runs again.
  std::string FailedResultPath(absl::string_view test_name) const;

  // The file with all tests together.
  std::string SequencePath() const;

  bool HasResult(absl::string_view test_name) const;

  // Removes the test's configs in other formats, which would be out of date.
  absl::Status WriteConfig(const DistributedSystemDescription& test) const;
  absl::Status WriteSequence(
      absl::Span<const DistributedSystemDescription> tests) const;

  // Returns a config on disk, in whichever format, that differs from this test
  // in more than its label and its objectives, which are judged anew; absent if
  // there is none. An unreadable config differs, and so does that of
  // ConfigPath() if there is none at all.
  std::optional<std::string> FindOtherConfig(
      const DistributedSystemDescription& test) const;

  // Stores the result, and removes an earlier failed result of the test.
  absl::Status WriteResult(absl::string_view test_name,
                           const TestSequenceResults& results) const;
  absl::Status WriteFailedResult(absl::string_view test_name,
                                 const TestSequenceResults& results) const;

  // Reads the only result in a file that WriteResult() wrote.
  absl::StatusOr<TestResult> ReadResult(absl::string_view test_name) const;

 private:
  std::string FilePath(absl::string_view name, absl::string_view suffix) const;
  std::string ConfigPath(absl::string_view test_name,
                         config::ConfigFormat format) const;

  const std::string path_;
  const std::string label_;
  const std::string config_header_;
  const config::ConfigFormat format_;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_RESULT_DIRECTORY_H_
