// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_SIMULATION_SIMULATION_DISPLAY_H_
#define DISTBENCH_PRODUCTS_SIMULATION_SIMULATION_DISPLAY_H_

#include <cstdint>
#include <string>

#include "distbench/client/progress_display.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "proto/results.pb.h"

namespace distbench::simulation {

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

 private:
  client::ProgressLine line_;  // clear when the display is gone
  std::string title_;          // "[1/2] incast: "
  int64_t started_ns_ = 0;
  int64_t shown_ns_ = 0;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_SIMULATION_DISPLAY_H_
