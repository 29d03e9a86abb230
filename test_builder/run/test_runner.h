// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs tests one after another, stores their results, and says how they ended.

#ifndef DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
#define DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_

#include <atomic>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/base/stop_signals.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/report/terminal/terminal_view.h"
#include "distbench/report/terminal/test_table.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/run/result_directory.h"

namespace distbench::test_builder {

// Verdicts that are not of a result.
inline constexpr char kFailed[] = "failed";
inline constexpr char kNotRun[] = "not run";

struct TestOutcome {
  std::string test;
  std::string verdict = kNotRun;  // or as of report::RunVerdict()

  // The result comes from an earlier run.
  bool kept = false;

  std::vector<report::TestRow::RpcFigures> rpcs;

  // The verdicts on the objectives.
  std::vector<report::Check> objectives;
};

// The outcome of a test that has a result. `objectives` are judged in addition
// to those of the test.
TestOutcome OutcomeOf(const TestResult& result,
                      absl::Span<const std::string> objectives = {});

// Formats report::TestTable(), with what was kept.
std::string OutcomeTable(absl::Span<const TestOutcome> outcomes);

// What runs tests: a sequencer, or a fake one. For use by one thread, except
// for Cancel().
class TestBackend {
 public:
  virtual ~TestBackend() = default;

  // Makes sure that tests can be run; returns at once if so. The error says
  // what was tried and what to check.
  virtual absl::Status Connect() = 0;

  using EventObserver = absl::FunctionRef<void(const RunTestsEvent& event)>;

  // Runs one test, after Connect() has succeeded. See TestClient::RunTests().
  virtual absl::Status Run(const DistributedSystemDescription& test,
                           EventObserver observer,
                           TestSequenceResults& results) = 0;

  // Ends a Run() in progress. May be called by any thread.
  virtual void Cancel() = 0;
};

// The sequencer at an address. If the connection is lost, Connect() reconnects.
class SequencerBackend final : public TestBackend {
 public:
  // address: "HOST:PORT".
  SequencerBackend(std::string address, security::TlsFiles tls);

  absl::Status Connect() override;
  absl::Status Run(const DistributedSystemDescription& test,
                   EventObserver observer,
                   TestSequenceResults& results) override;
  void Cancel() override;

 private:
  const std::string address_;
  const security::TlsFiles tls_;

  // All that there have been: Cancel() may still use a lost one.
  std::vector<std::unique_ptr<client::TestClient>> clients_;
  std::atomic<client::TestClient*> client_ = nullptr;  // null: not connected
};

// The console, which tests replace.
struct RunConsole {
  std::ostream* output;    // results: configs, summaries, tables, help
  std::ostream* messages;  // progress, notes, errors

  // How results are printed to the output.
  report::ResultTextOptions result_text = {};

  client::ProgressDisplayOptions progress;

  // Leaves out what happens as it should.
  bool quiet = false;

  // By which the user asks to stop.
  base::StopSignals* stop;
};

class TestRunner {
 public:
  // All arguments must outlive the runner. allow_invalid: false numbers are a
  // result like others.
  TestRunner(TestBackend& backend, const ResultDirectory& directory,
             RunConsole console, bool allow_invalid = false);

  // Runs the tests that do not have a result yet, whose configs must be those
  // of the directory (ResultDirectory::FindOtherConfig()). Continues after a
  // test that fails, but stops if the sequencer cannot be reached or the user
  // asks to stop, which ends the running test. Returns the outcomes of all
  // tests, in order.
  std::vector<TestOutcome> RunAll(
      absl::Span<const DistributedSystemDescription> tests);

 private:
  TestOutcome RunOne(const DistributedSystemDescription& test);
  TestOutcome Keep(const DistributedSystemDescription& test);
  TestOutcome Finish(const DistributedSystemDescription& test,
                     const absl::Status& status,
                     const TestSequenceResults& results);
  absl::Status RunWithProgress(const DistributedSystemDescription& test,
                               TestSequenceResults& results);

  // Prints how many tests will run, and for how long.
  void SayWhatIsLeft(absl::Span<const DistributedSystemDescription> tests);

  // Print a line to the messages: always, and unless the console is quiet.
  void Say(absl::string_view text);
  void SayProgress(absl::string_view text);

  TestBackend& backend_;
  const ResultDirectory& directory_;
  const RunConsole console_;
  const bool allow_invalid_;

  // The running test's position among all tests.
  int position_ = 0;
  // The sequencer cannot be reached.
  bool unreachable_ = false;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
