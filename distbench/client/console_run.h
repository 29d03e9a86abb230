// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

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

namespace distbench::client {

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

// What stderr shows while a run is under way.
enum class RunProgress { kNone, kShown, kWithRunId };

// Each of these functions passes each test's result to `print` when the test
// ends, and takes over the handler of `stop` while it runs.

// Runs the tests. A stop signal cancels them.
ConsoleRun RunOnConsole(TestClient& client, const RunTestsRequest& request,
                        RunProgress progress, const ResultPrinter& print,
                        base::StopSignals& stop);

// Waits for the end of a run. A stop signal ends the wait, not the run.
ConsoleRun FollowOnConsole(TestClient& client, const RunDescription& run,
                           RunProgress progress, const ResultPrinter& print,
                           base::StopSignals& stop);

// Gets the results of a finished run.
ConsoleRun GetOnConsole(TestClient& client, const RunDescription& run,
                        const ResultPrinter& print, base::StopSignals& stop);

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_CONSOLE_RUN_H_
