// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// `distbench simulate`, and the flags of all commands that simulate.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_
#define DISTBENCH_PRODUCTS_SIMULATION_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/cli/command.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/client/progress_display.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "proto/results.pb.h"

namespace distbench::simulation {

void AddSimulateCommand(CLI::App& app, cli::CommandBody& chosen);

// On what tests run: --fabric, --calibrate_from, --keep_fabric, --hosts and
// --threads.
class SimulationFlags final : public cli::SimulationOptions {
 public:
  std::vector<std::string> AddFlags(CLI::App& command) override;

  // Reads the files, and writes that of --keep_fabric. Errors name the file.
  absl::StatusOr<cli::SimulatedHosts> Read() const override;
  absl::StatusOr<ClusterRunOptions> ReadOptions() const;

 private:
  std::string fabric_;
  std::string calibrate_from_;
  std::string keep_fabric_;
  int hosts_ = 0;    // 0: as many as the test needs
  int threads_ = 0;  // 0: those of this machine, up to a limit
};

// Shows users the progress of the tests that they simulate. A terminal has one
// line that is redrawn; other outputs get a new line every few seconds. Not
// thread-safe.
class SimulationDisplay {
 public:
  // Of the options, those about the output and the number of tests count.
  explicit SimulationDisplay(client::ProgressDisplayOptions options);

  // Call these in turn for each test, Show() about once a second. The end of a
  // test leaves the terminal's line clear.
  void ShowStart(int test_index, const std::string& name);
  void Show(const ClusterRunOptions::Progress& progress);
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
