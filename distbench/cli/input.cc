// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/input.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/check.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/results/result_encoding.h"
#include "distbench/results/result_file.h"
#include "distbench/sequencer/runs/kept_run.h"
#include "proto/control.pb.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/test_list.h"

namespace distbench::cli {
namespace {

// Orders names as readers count: numbers by their digits, fewer digits first,
// so that "x4" is before "x16".
std::string OrderKey(const std::string& name) {
  constexpr size_t kMaxDigits = 127;
  std::string key;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && absl::ascii_isdigit(name[end])) ++end;
    if (end == i) {
      key += name[i++];
      continue;
    }
    while (i + 1 < end && name[i] == '0') ++i;
    key += '0';  // where digits are among other characters
    key += static_cast<char>(std::min(end - i, kMaxDigits));
    key.append(name, i, end - i);
    i = end;
  }
  return key;
}

absl::StatusOr<TestSequence> BuildPattern(const std::string& pattern) {
  test_builder::Notes notes;
  test_builder::TestListRequest request;
  request.configs = {pattern};
  absl::StatusOr<std::vector<DistributedSystemDescription>> tests =
      test_builder::BuildTests(request, notes);
  if (!tests.ok()) return tests.status();
  for (const std::string& note : notes.all()) std::cerr << note << '\n';
  TestSequence sequence;
  for (DistributedSystemDescription& test : *tests) {
    *sequence.add_tests() = std::move(test);
  }
  return config::CheckTestSequence(std::move(sequence));
}

namespace fs = std::filesystem;

// Whether a sequencer keeps a run there. Other results may have any name.
bool IsKeptRun(const std::string& path) {
  std::error_code unknown;
  return absl::EndsWith(path, sequencer::kRunResultSuffix) &&
         fs::exists(sequencer::DescriptionFileOf(path), unknown);
}

bool IsResult(const std::string& path) {
  return absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pb.gz") ||
         IsKeptRun(path);
}

// Nothing if it is of a run that has not ended.
absl::StatusOr<std::optional<TestSequenceResults>> ReadIfEnded(
    const std::string& path) {
  if (!IsKeptRun(path)) return results::ReadResults(path);
  const absl::StatusOr<RunDescription> run =
      sequencer::ReadRunDescription(sequencer::DescriptionFileOf(path));
  if (!run.ok()) return run.status();
  if (!sequencer::HasFinalResult(*run)) return std::nullopt;
  return sequencer::ReadRunResult(path, *run, results::kUnlimitedBytes);
}

// Adds what the path stands for.
absl::Status ReadResultsAt(const std::string& path,
                           std::vector<report::SourcedResults>& all) {
  const absl::StatusOr<std::vector<std::string>> files = ResultFilesAt(path);
  if (!files.ok()) return files.status();
  const size_t earlier = all.size();
  for (const std::string& file : *files) {
    absl::StatusOr<std::optional<TestSequenceResults>> results =
        ReadIfEnded(file);
    if (!results.ok()) return results.status();
    if (*results) all.push_back({file, **std::move(results)});
  }
  if (all.size() > earlier) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(path, " holds no result of a run that has ended"));
}

}  // namespace

absl::StatusOr<TestSequence> LoadAndCheckTests(const std::string& infile,
                                               config::ConfigText* text) {
  if (infile == "-" && isatty(STDIN_FILENO)) {
    std::cerr << "Reading tests from standard input; press Ctrl-D to finish"
              << std::endl;
  }
  config::ConfigText read;
  absl::StatusOr<TestSequence> tests = config::LoadTestSequence(infile, &read);
  if (!tests.ok()) return tests;
  tests = config::CheckTestSequence(*std::move(tests), read);
  if (text != nullptr) *text = std::move(read);
  return tests;
}

absl::StatusOr<DistributedSystemDescription> LoadOneTest(
    const std::string& pattern, const std::string& infile) {
  absl::StatusOr<TestSequence> tests =
      pattern.empty() ? LoadAndCheckTests(infile) : BuildPattern(pattern);
  if (!tests.ok()) return tests.status();
  if (tests->tests_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(pattern.empty() ? infile : pattern, " has ",
                     tests->tests_size(), " tests; exactly one is needed"));
  }
  return std::move(*tests->mutable_tests(0));
}

absl::StatusOr<std::vector<std::string>> ResultFilesAt(
    const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().string();
    if (IsResult(file)) files.push_back(file);
  }
  if (error) {
    return absl::UnknownError(
        absl::StrCat("cannot list ", path, ": ", error.message()));
  }
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(path,
                     " holds no results (*.pb or *.pb.gz, or *.result of "
                     "a sequencer's --results_dir)"));
  }
  std::sort(files.begin(), files.end(),
            [](const std::string& a, const std::string& b) {
              return std::pair(OrderKey(a), a) < std::pair(OrderKey(b), b);
            });
  return files;
}

absl::StatusOr<std::vector<report::SourcedResults>> ReadResultFiles(
    const std::vector<std::string>& paths) {
  std::vector<report::SourcedResults> all;
  for (const std::string& path : paths) {
    if (absl::Status status = ReadResultsAt(path, all); !status.ok()) {
      return status;
    }
  }
  return all;
}

absl::StatusOr<std::unique_ptr<results::FileLock>> LockKept(
    const std::string& resume, const std::string& outfile) {
  const std::string& path = resume.empty() ? outfile : resume;
  if (path.empty()) return nullptr;
  return results::FileLock::Take(path);
}

absl::StatusOr<TestSequenceResults> EarlierResults(
    const std::string& resume, const std::string& outfile,
    absl::string_view resumed,
    absl::FunctionRef<std::string(const TestSequenceResults&)> work_in) {
  if (!resume.empty()) {
    if (outfile.empty()) return results::ReadResults(resume);
    return absl::InvalidArgumentError(
        absl::StrCat("--resume and --outfile exclude each other: ", resumed,
                     " is written to its own file"));
  }
  std::error_code ignored;
  if (!fs::is_regular_file(outfile, ignored)) {
    return TestSequenceResults();
  }
  const absl::StatusOr<TestSequenceResults> existing =
      results::ReadResults(outfile);
  const std::string work = existing.ok() ? work_in(*existing) : "";
  if (work.empty()) return TestSequenceResults();
  return absl::FailedPreconditionError(
      absl::StrCat(outfile, " holds ", work, "; resume with --resume=", outfile,
                   ", or remove the file to start anew"));
}

absl::StatusOr<results::ResultEncoding> EncodingToKeep(
    const std::string& resume, bool binary_output) {
  if (binary_output) return results::ResultEncoding::kBinary;
  if (resume.empty()) return results::ResultEncoding::kText;
  return results::EncodingOf(resume);
}

int ExitCodeForAll(const std::vector<report::SourcedResults>& results) {
  int exit_code = report::kExitOk;
  for (const report::SourcedResults& sourced : results) {
    exit_code = std::max(exit_code, report::ExitCodeFor(sourced.results));
    for (const auto& [name, rule] :
         base::Plugins<report::ValidityRule>::All()) {
      if (rule->is_invalid(sourced.results)) exit_code = report::kExitRunFailed;
    }
  }
  return exit_code;
}

void AddMaxTestDurationFlag(CLI::App& command, absl::Duration& limit,
                            absl::string_view description) {
  constexpr char kFlag[] = "--max_test_duration";
  AddDurationFlag(command, kFlag, limit, description);
  // Tests have their limit as an attribute in seconds.
  flags::Check(command, kFlag, [](const std::string& text) -> std::string {
    const auto duration = flags::ParseDurationOrSeconds(text);
    if (!duration.ok()) return "";  // which AddDurationFlag() refuses
    const absl::Duration whole = absl::Ceil(*duration, absl::Seconds(1));
    if (whole == *duration) return "";
    return absl::StrCat(config::Quoted(text),
                        " is no number of whole seconds; ", "the next one is ",
                        absl::FormatDuration(whole));
  });
}

void LimitDuration(absl::Duration limit, TestSequence& tests) {
  if (limit == absl::InfiniteDuration()) return;
  // Tests that were checked stay valid: thirty years are as good as more.
  const int64_t seconds =
      std::min(config::kMaxTestTimeoutSeconds, absl::ToInt64Seconds(limit));
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    (*test.mutable_attributes())[config::kTestTimeoutAttribute] =
        absl::StrCat(seconds);
  }
}

void RemarkOnTests(const TestSequence& tests) {
  for (int i = 0; i < tests.tests_size(); ++i) {
    for (const auto& [name, remark] : base::Plugins<TestRemark>::All()) {
      const std::string text = remark->about(tests.tests(i));
      if (!text.empty()) {
        std::cerr << "note: tests[" << i << "] " << text << std::endl;
      }
    }
  }
}

void LeaveOutSamples(TestSequence& tests) {
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    test.set_sample_memory_bytes(0);
  }
}

namespace {

absl::Status OfObjectiveFlag(const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat("--slo: ", error.message()));
}

}  // namespace

absl::Status CheckObjectiveFlags(const std::vector<std::string>& objectives) {
  for (const std::string& text : objectives) {
    const absl::StatusOr<config::Objective> objective =
        config::ParseObjective(text);
    if (!objective.ok()) return OfObjectiveFlag(objective.status());
  }
  return absl::OkStatus();
}

absl::StatusOr<TestSequence> WithObjectives(
    TestSequence tests, const std::vector<std::string>& objectives) {
  if (objectives.empty()) return tests;  // already checked
  if (absl::Status status = CheckObjectiveFlags(objectives); !status.ok()) {
    return status;
  }
  for (DistributedSystemDescription& test : *tests.mutable_tests()) {
    for (const std::string& objective : objectives) {
      test.add_objectives(objective);
    }
  }
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(tests));
  // The tests were valid without them.
  if (!checked.ok()) return OfObjectiveFlag(checked.status());
  return checked;
}

}  // namespace distbench::cli
