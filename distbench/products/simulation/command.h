// `distbench simulate`.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_
#define DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_

#include <cstdint>
#include <string>

#include "distbench/cli/command.h"
#include "distbench/client/progress_display.h"
#include "proto/results.pb.h"

namespace distbench::simulation {

void AddSimulateCommand(CLI::App& app, cli::CommandBody& chosen);

// Shows users the progress of the tests that they simulate.

struct SimulationProgress {
  int64_t simulated_ns = 0;  // since the start of the traffic
  int64_t succeeded = 0;
  int64_t failed = 0;
  uint64_t events = 0;
};

// A terminal has one line that is redrawn; other outputs get a new line every
// few seconds. Not thread-safe.
class SimulationDisplay {
 public:
  // Of the options, those about the output and the number of tests count.
  explicit SimulationDisplay(client::ProgressDisplayOptions options);

  // Call these in turn for each test, Show() about once a second. The end of a
  // test leaves the terminal's line clear.
  void ShowStart(int test_index, const std::string& name);
  void Show(const SimulationProgress& progress);
  void ShowEnd(const TestResult& result);

  // Clears the line, before something else is printed.
  void Clear() { line_.Clear(); }

 private:
  client::ProgressLine line_;  // clear when the display is gone
  std::string title_;          // "[1/2] incast: "
  int64_t started_ns_ = 0;
  int64_t shown_ns_ = 0;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_
