// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// `distbench search`.

#ifndef DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_
#define DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/cli/command.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/security/tls_files.h"
#include "proto/traffic_config.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace distbench::search {

void AddSearchCommand(CLI::App& app, cli::CommandBody& chosen);

// The flags of `distbench search`. Zero durations and absent values mean that
// the flag was not given.
struct SearchFlags {
  std::string test_sequencer;
  security::TlsFiles tls;

  // Instead of a test sequencer. Null if this program cannot simulate.
  bool simulate = false;
  std::unique_ptr<cli::SimulationOptions> simulation;

  std::optional<std::string> infile;
  std::vector<std::string> objectives;
  std::string knob;

  // The cell of the experiment, for objectives on isolation.
  std::string controls;
  std::string antagonist;
  std::vector<double> loads;
  std::optional<double> initial_load;
  std::optional<double> min_load;
  std::optional<double> max_load;
  std::optional<double> tolerance_percent;
  std::optional<int> max_probes;
  absl::Duration warmup;
  absl::Duration probe;
  absl::Duration final_run;
  absl::Duration max_time;
  std::string instances;  // empty: 1
  bool cpu_slices = false;
  std::string csv;
  std::string outfile;
  bool binary_output = false;
  std::string resume;
  std::string on_final;
  bool quiet = false;
};

// `flags` must outlive the parsing.
void AddSearchFlags(CLI::App& command, SearchFlags& flags);

// Adds those that say how precise an answer is and how long runs are:
// --tolerance, --max_probes, --warmup, and for measured times --probe and
// --final, with the suffix.
void AddEffortFlags(CLI::App& command, absl::string_view suffix,
                    SearchFlags& flags);

// Returns the search settings that the flags give.
LoadSearchSpec SpecOf(const SearchFlags& flags);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_COMMAND_H_
