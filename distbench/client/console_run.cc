// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/client/console_run.h"

#include "absl/status/statusor.h"
#include "distbench/client/progress_display.h"

namespace distbench::client {

namespace {

// Keeps and prints an event's information, except for progress.
void Take(const RunTestsEvent& event, const ResultPrinter& print,
          ConsoleRun& run) {
  if (event.has_run_id()) run.run_id = event.run_id();
  if (event.has_started()) run.traffic_started = true;
  if (!event.has_finished()) return;
  if (event.finished().run_info().has_start_timestamp_ns()) {
    run.traffic_started = true;
  }
  // The event has only what came last of the result.
  print(run.results.test_results(event.test_index()));
  run.printed_results = true;
}

// Returns how long the traffic of the run's test has been under way, in
// microseconds; 0 if it is not under way or this is unknown.
int64_t RunningTimeUs(TestClient& client, const RunDescription& run) {
  if (run.state() != RunDescription::RUNNING) return 0;
  const absl::StatusOr<GetStatusResponse> status = client.GetStatus();
  return status.ok() ? status->running_time_us() : 0;
}

// Calls the sequencer, then keeps and shows the events that it sends. A stop
// signal cancels the call.
template <typename Call>
ConsoleRun Conduct(TestClient& client, base::StopSignals& stop,
                   const ResultPrinter& print,
                   const ProgressDisplayOptions& options, const Call& call) {
  ConsoleRun run;
  ProgressDisplay display(options);
  stop.SetHandler([&client] { client.Cancel(); });
  run.status = call(
      [&](const RunTestsEvent& event) {
        display.Show(event);
        Take(event, print, run);
      },
      run.results);
  stop.SetHandler({});
  return run;
}

}  // namespace

ConsoleRun RunOnConsole(TestClient& client, const RunTestsRequest& request,
                        RunProgress progress, const ResultPrinter& print,
                        base::StopSignals& stop) {
  ProgressDisplayOptions options =
      StderrProgress(request.test_sequence().tests_size(),
                     /*quiet=*/progress == RunProgress::kNone);
  options.show_run_id = progress == RunProgress::kWithRunId;
  return Conduct(client, stop, print, options,
                 [&](const auto& observe, TestSequenceResults& results) {
                   return client.RunTests(request, observe, results);
                 });
}

ConsoleRun FollowOnConsole(TestClient& client, const RunDescription& run,
                           RunProgress progress, const ResultPrinter& print,
                           base::StopSignals& stop) {
  ProgressDisplayOptions options =
      StderrProgress(run.test_names_size(),
                     /*quiet=*/progress == RunProgress::kNone);
  options.running_time_us = RunningTimeUs(client, run);
  return Conduct(client, stop, print, options,
                 [&](const auto& observe, TestSequenceResults& results) {
                   return client.GetRun(run, /*wait=*/true, observe, results);
                 });
}

ConsoleRun GetOnConsole(TestClient& client, const RunDescription& run,
                        const ResultPrinter& print, base::StopSignals& stop) {
  return Conduct(client, stop, print,
                 StderrProgress(run.test_names_size(), /*quiet=*/true),
                 [&](const auto& observe, TestSequenceResults& results) {
                   return client.GetRun(run, /*wait=*/false, observe, results);
                 });
}

}  // namespace distbench::client
