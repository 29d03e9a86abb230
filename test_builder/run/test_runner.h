// Runs tests one after another, and stores their results.

#ifndef DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
#define DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/client/progress_display.h"
#include "distbench/client/test_client.h"
#include "distbench/report/terminal/terminal_view.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/run/outcome.h"
#include "test_builder/run/result_directory.h"

namespace distbench::test_builder {

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
  std::shared_ptr<client::TestClient> client() const;
  void set_client(std::shared_ptr<client::TestClient> client);

  const std::string address_;
  const security::TlsFiles tls_;
  mutable absl::Mutex mutex_;
  // Shared with concurrent calls of Cancel().
  std::shared_ptr<client::TestClient> client_ ABSL_GUARDED_BY(mutex_);
};

struct RunConsole {
  // `output` receives summaries and the table, `messages` progress and errors.
  std::ostream* output;
  std::ostream* messages;

  // How results are printed to the output.
  report::ResultTextOptions result_text = {};

  client::ProgressDisplayOptions progress;

  // Leaves out what happens as it should.
  bool quiet = false;

  // Whether the user has asked to stop. Whoever notices first also calls
  // TestBackend::Cancel(), to end the running test.
  std::function<bool()> stop_requested;
};

class TestRunner {
 public:
  // All arguments must outlive the runner.
  TestRunner(TestBackend& backend, const ResultDirectory& directory,
             RunConsole console);

  // Runs the tests that do not have a result yet. Continues after a test that
  // fails, but stops if the sequencer cannot be reached or the user asks to
  // stop. Returns the outcomes of all tests, in order.
  std::vector<TestOutcome> RunAll(
      absl::Span<const DistributedSystemDescription> tests);

 private:
  TestOutcome RunOne(const DistributedSystemDescription& test);
  TestOutcome Keep(const DistributedSystemDescription& test);
  TestOutcome Finish(const DistributedSystemDescription& test,
                     const absl::Status& status,
                     const TestSequenceResults& results);
  void Announce(const DistributedSystemDescription& test);
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

  // The running test's position among all tests.
  int position_ = 0;
  // The sequencer cannot be reached.
  bool unreachable_ = false;
};

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_RUN_TEST_RUNNER_H_
