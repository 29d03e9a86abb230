// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What subcommands read: tests and results.

#ifndef DISTBENCH_CLI_INPUT_H_
#define DISTBENCH_CLI_INPUT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/cli/flags.h"
#include "distbench/config/reading/load.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/file_lock.h"
#include "distbench/results/result_file.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::cli {

// Returns the tests of a file, canonical and ready to run. The error lists
// every problem, one per line, with its place in the file. Prints a hint to
// stderr if it waits for terminal input. `text`, if given, becomes what the
// file says, as in LoadTestSequence().
absl::StatusOr<TestSequence> LoadAndCheckTests(
    const std::string& infile, config::ConfigText* text = nullptr);

// Returns the single test of a pattern string such as "feed_aggregator:grpc",
// built as by test_builder, or of a file if `pattern` is empty. The test is
// canonical. INVALID_ARGUMENT if the input is wrong or does not yield exactly
// one test.
absl::StatusOr<DistributedSystemDescription> LoadOneTest(
    const std::string& pattern, const std::string& infile);

// The result files that a path stands for: a directory for its *.pb and *.pb.gz
// files, and the *.result of runs that a sequencer keeps there, sorted by name
// with numbers in order ("x4" before "x16"), which is an error if it has none;
// others for themselves.
absl::StatusOr<std::vector<std::string>> ResultFilesAt(const std::string& path);

// Reads those of all paths. Runs that have not ended are left out; it is an
// error if a path stands for nothing else.
absl::StatusOr<std::vector<report::SourcedResults>> ReadResultFiles(
    const std::vector<std::string>& paths);

// Keeps other processes from the file of a command that can be continued, until
// the lock is gone; null if there is no file. Take it before EarlierResults().
absl::StatusOr<std::unique_ptr<results::FileLock>> LockKept(
    const std::string& resume, const std::string& outfile);

// For commands that go on where they ended, with the outfile of --resume.
// Returns the results in this file; nothing without the flag. The error is
// about flags that exclude each other, or says that the outfile has what would
// be lost: `work_in` says what that is, or nothing. `resumed` is the command's
// word, such as "a resumed search".
absl::StatusOr<TestSequenceResults> EarlierResults(
    const std::string& resume, const std::string& outfile,
    absl::string_view resumed,
    absl::FunctionRef<std::string(const TestSequenceResults&)> work_in);

// In which encoding such a command writes: as the file of --resume is, unless
// --binary_output asks for binary.
absl::StatusOr<results::ResultEncoding> EncodingToKeep(
    const std::string& resume, bool binary_output);

// Returns the most severe exit code of the results.
int ExitCodeForAll(const std::vector<report::SourcedResults>& results);

// What flags of several commands change about tests before these run.

// Adds --max_test_duration, whose value LimitDuration() takes: whole seconds.
void AddMaxTestDurationFlag(CLI::App& command, absl::Duration& limit,
                            absl::string_view description);

// Overrides the tests' own limits, unless the limit is infinite.
void LimitDuration(absl::Duration limit, TestSequence& tests);

void LeaveOutSamples(TestSequence& tests);

// Checks the syntax of objectives from --slo, which the error names.
absl::Status CheckObjectiveFlags(const std::vector<std::string>& objectives);

// The tests with the objectives of --slo, canonical again. They go with the
// tests, so that the result says what it was judged by.
absl::StatusOr<TestSequence> WithObjectives(
    TestSequence tests, const std::vector<std::string>& objectives);

// What a product remarks about a test that is run without what the product
// would do with it, as a base::Plugin<TestRemark>.
struct TestRemark {
  // Such as "runs without its experiment"; empty if there is nothing to say.
  std::string (*about)(const DistributedSystemDescription& test);
};

// Prints the remarks to stderr.
void RemarkOnTests(const TestSequence& tests);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_INPUT_H_
