// Runs tests for somebody who watches.

#ifndef DISTBENCH_CLIENT_CONSOLE_RUN_H_
#define DISTBENCH_CLIENT_CONSOLE_RUN_H_

#include "absl/status/status.h"
#include "distbench/base/stop_signals.h"
#include "distbench/client/test_client.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct ConsoleRun {
  // As of TestClient::RunTests(); CANCELLED after a stop signal.
  absl::Status status;

  // Whether any traffic was sent: what fails before that has not cost anything.
  bool traffic_started = false;

  // As of TestClient::RunTests().
  TestSequenceResults results;
};

// Runs the tests with progress on stderr, and prints the summary of each to
// stdout when it ends, below a line "Test summary:". A stop signal cancels
// them; takes over the handler of `stop` meanwhile.
ConsoleRun RunOnConsole(TestClient& client, const TestSequence& tests,
                        StopSignals& stop);

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_CONSOLE_RUN_H_
