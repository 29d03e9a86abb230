// Runs tests for somebody who watches.

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
  // As of TestClient::RunTests(); CANCELLED after a stop signal.
  absl::Status status;

  // Empty if the tests were refused.
  std::string run_id;

  // Whether any traffic was sent: what fails before that has not cost anything.
  bool traffic_started = false;

  // As of TestClient::RunTests().
  TestSequenceResults results;
};

// Each prints the summary of each test to stdout when it ends, below a line
// "Test summary:", and takes over the handler of `stop` meanwhile.

// Runs the tests with progress on stderr, which begins with the run's id if
// `show_run_id`. A stop signal cancels them.
ConsoleRun RunOnConsole(TestClient& client, const RunTestsRequest& request,
                        bool show_run_id, StopSignals& stop);

// Waits for the end of a run, with progress on stderr. A stop signal ends the
// waiting.
ConsoleRun FollowOnConsole(TestClient& client, const RunDescription& run,
                           StopSignals& stop);

// Gets the results of a run that has ended.
ConsoleRun GetOnConsole(TestClient& client, const RunDescription& run,
                        StopSignals& stop);

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_CONSOLE_RUN_H_
