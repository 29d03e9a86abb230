// Runs tests with output on the console.

#ifndef DISTBENCH_CLIENT_CONSOLE_RUN_H_
#define DISTBENCH_CLIENT_CONSOLE_RUN_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "distbench/base/stop_signals.h"
#include "distbench/client/test_client.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

struct ConsoleRun {
  // As returned by TestClient::RunTests(); CANCELLED after a stop signal.
  absl::Status status;

  // Empty if the sequencer rejected the tests.
  std::string run_id;

  // Whether any traffic was sent. A failure before that has cost nothing.
  bool traffic_started = false;

  // As filled in by TestClient::RunTests().
  TestSequenceResults results;

  // Whether results were passed to a ResultPrinter.
  bool printed_results = false;
};

// Prints the result of a test that has ended.
using ResultPrinter = std::function<void(const TestResult& result)>;

// Each of these functions passes each test's result to `print` when the test
// ends, and takes over the handler of `stop` while it runs.

// Runs the tests with progress on stderr; the progress begins with the run's id
// if `show_run_id`. A stop signal cancels the tests.
ConsoleRun RunOnConsole(TestClient& client, const RunTestsRequest& request,
                        bool show_run_id, const ResultPrinter& print,
                        StopSignals& stop);

// Waits for the end of a run, with progress on stderr. A stop signal ends the
// wait, not the run.
ConsoleRun FollowOnConsole(TestClient& client, const RunDescription& run,
                           const ResultPrinter& print, StopSignals& stop);

// Gets the results of a finished run.
ConsoleRun GetOnConsole(TestClient& client, const RunDescription& run,
                        const ResultPrinter& print, StopSignals& stop);

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_CONSOLE_RUN_H_
