// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/run/result_directory.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/results/output_file.h"
#include "distbench/results/result_file.h"
#include "test_builder/building/config_text.h"
#include "test_builder/building/test_list.h"

namespace distbench::test_builder {
namespace {

// The only test of a config that is stored there; absent if it is not one.
std::optional<DistributedSystemDescription> StoredTest(
    const std::string& path) {
  absl::StatusOr<TestSequence> stored = config::LoadTestSequence(path);
  if (!stored.ok() || stored->tests_size() != 1) return std::nullopt;
  return std::move(*stored->mutable_tests(0));
}

bool MeasureTheSame(DistributedSystemDescription a,
                    DistributedSystemDescription b) {
  a.clear_objectives();
  b.clear_objectives();
  return EqualButForLabels(a, b);
}

}  // namespace

ResultDirectory::ResultDirectory(absl::string_view path,
                                 absl::string_view label,
                                 absl::string_view config_header,
                                 config::ConfigFormat format)
    : path_(path),
      label_(label),
      config_header_(config_header),
      format_(format) {}

absl::StatusOr<bool> ResultDirectory::Create() const {
  std::error_code error;
  const bool created = std::filesystem::create_directories(path_, error);
  if (error || !std::filesystem::is_directory(path_, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": cannot be made a directory: ",
                     error ? error.message() : "there is a file of that name",
                     "; name another one with -o"));
  }
  return created;
}

std::string ResultDirectory::FilePath(absl::string_view name,
                                      absl::string_view suffix) const {
  return absl::StrCat(path_, "/", label_, name, suffix);
}

std::string ResultDirectory::ConfigPath(absl::string_view test_name) const {
  return ConfigPath(test_name, format_);
}

std::string ResultDirectory::ConfigPath(absl::string_view test_name,
                                        config::ConfigFormat format) const {
  return FilePath(test_name, config::FileEnding(format));
}

std::string ResultDirectory::ResultPath(absl::string_view test_name) const {
  return FilePath(test_name, ".pb.gz");
}

std::string ResultDirectory::FailedResultPath(
    absl::string_view test_name) const {
  return FilePath(test_name, ".failed.pb.gz");
}

std::string ResultDirectory::SequencePath() const {
  return FilePath("test_sequence", config::FileEnding(format_));
}

bool ResultDirectory::HasResult(absl::string_view test_name) const {
  std::error_code ignored;
  return std::filesystem::exists(ResultPath(test_name), ignored);
}

absl::Status ResultDirectory::WriteConfig(
    const DistributedSystemDescription& test) const {
  absl::Status status = results::WriteFile(
      ConfigPath(test.name()), ConfigFile(config_header_, {test}, format_));
  if (!status.ok()) return status;
  for (const config::ConfigFormat format : config::kConfigFormats) {
    if (format == format_) continue;
    const std::string path = ConfigPath(test.name(), format);
    const std::optional<DistributedSystemDescription> stored = StoredTest(path);
    // Other files of this name, such as a report, are somebody else's.
    if (!stored.has_value() || stored->name() != test.name()) continue;
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  return status;
}

absl::Status ResultDirectory::WriteSequence(
    absl::Span<const DistributedSystemDescription> tests) const {
  return results::WriteFile(SequencePath(),
                            ConfigFile(config_header_, tests, format_));
}

std::optional<std::string> ResultDirectory::FindOtherConfig(
    const DistributedSystemDescription& test) const {
  bool has_equal = false;
  for (const config::ConfigFormat format : config::kConfigFormats) {
    const std::string path = ConfigPath(test.name(), format);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    const std::optional<DistributedSystemDescription> stored = StoredTest(path);
    if (!stored.has_value() || !MeasureTheSame(*stored, test)) return path;
    has_equal = true;
  }
  if (has_equal) return std::nullopt;
  return ConfigPath(test.name());
}

absl::Status ResultDirectory::WriteResult(
    absl::string_view test_name, const TestSequenceResults& results) const {
  const absl::Status status = results::WriteResults(
      results, ResultPath(test_name), results::ResultEncoding::kBinary);
  if (status.ok()) {
    std::error_code ignored;
    std::filesystem::remove(FailedResultPath(test_name), ignored);
  }
  return status;
}

absl::Status ResultDirectory::WriteFailedResult(
    absl::string_view test_name, const TestSequenceResults& results) const {
  return results::WriteResults(results, FailedResultPath(test_name),
                               results::ResultEncoding::kBinary);
}

absl::StatusOr<TestResult> ResultDirectory::ReadResult(
    absl::string_view test_name) const {
  const std::string path = ResultPath(test_name);
  absl::StatusOr<TestSequenceResults> results = results::ReadResults(path);
  if (!results.ok()) return results.status();
  if (results->test_results_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds ",
                                                   results->test_results_size(),
                                                   " results instead of one"));
  }
  return std::move(*results->mutable_test_results(0));
}

}  // namespace distbench::test_builder
