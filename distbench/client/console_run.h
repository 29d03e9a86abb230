// Runs tests with output on the console.

#ifndef DISTBENCH_CLIENT_CONSOLE_RUN_H_
#define DISTBENCH_CLIENT_CONSOLE_RUN_H_

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
};

// Each of these functions prints a test's summary to stdout when the test ends,
// below a line "Test summary:". Each takes over the handler of `stop` while it
// runs.

// Runs the tests with progress on stderr; the progress begins with the run's id
// if `show_run_id`. A stop signal cancels the tests.
ConsoleRun RunOnConsole(TestClient& client, const RunTestsRequest& request,
                        bool show_run_id, StopSignals& stop);

// Waits for the end of a run, with progress on stderr. A stop signal ends the
// wait, not the run.
ConsoleRun FollowOnConsole(TestClient& client, const RunDescription& run,
                           StopSignals& stop);

// Gets the results of a finished run.
ConsoleRun GetOnConsole(TestClient& client, const RunDescription& run,
                        StopSignals& stop);

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_CONSOLE_RUN_H_
