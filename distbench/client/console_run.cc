#include "distbench/client/console_run.h"

#include <iostream>
#include <string>

#include "distbench/client/progress_display.h"
#include "proto/control.pb.h"

namespace distbench {

namespace {

void PrintSummary(const TestResult& result) {
  std::cout << "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    std::cout << line << '\n';
  }
  std::cout << std::flush;
}

}  // namespace

ConsoleRun RunOnConsole(TestClient& client, const TestSequence& tests,
                        StopSignals& stop) {
  ConsoleRun run;
  ProgressDisplay display(StderrProgress(tests.tests_size()));
  stop.SetHandler([&client] { client.Cancel(); });
  run.status = client.RunTests(
      tests,
      [&](const RunTestsEvent& event) {
        display.Show(event);
        if (event.has_started()) run.traffic_started = true;
        if (event.has_finished()) PrintSummary(event.finished());
      },
      run.results);
  stop.SetHandler({});
  return run;
}

}  // namespace distbench
