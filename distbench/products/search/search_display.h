// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shows a search's progress to the user.

#ifndef DISTBENCH_PRODUCTS_SEARCH_SEARCH_DISPLAY_H_
#define DISTBENCH_PRODUCTS_SEARCH_SEARCH_DISPLAY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "distbench/client/progress_display.h"
#include "distbench/products/search/search_run.h"
#include "distbench/results/progress_meter.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::search {

// Prints a permanent line after each probe. On a terminal, the running probe
// has a line that is redrawn; otherwise, a line is printed before each probe.
// Not thread-safe.
class SearchDisplay {
 public:
  // `is_simulated`: probes take simulated time, not that of clocks.
  explicit SearchDisplay(client::ProgressDisplayOptions options,
                         bool is_simulated = false);

  void ShowPlan(const SearchPlan& plan);

  // Says how the search that is resumed ended the last time, if it found no
  // answer.
  void ShowAttempt(const TestSequenceResults& earlier);

  // Callbacks for RunLoadSearch().
  void Announce(const PlannedProbe& probe);
  void Show(const RunTestsEvent& event);
  void Observe(const SearchReport& report, const SearchProbe& probe,
               const Bracket& bracket);

  // Shows the verdict and its evidence.
  void ShowVerdict(const SearchReport& report);

  // Removes the redrawn line from the terminal, so that other output can
  // follow.
  void Clear() { line_.Clear(); }

 private:
  // The running probe's status: "6 s left, 812/s, p99 31.0ms".
  std::string Status(int64_t now_ns) const;

  // When the probe is measured, which begins now.
  std::string TimeText(const PlannedProbe& probe) const;

  client::ProgressLine line_;  // clear when the display is gone
  const bool is_simulated_;
  bool finds_lowest_ = false;

  // State of the running probe.
  PlannedProbe probe_;
  int64_t started_ns_ = 0;
  int64_t shown_ns_ = 0;
  std::string rate_;  // empty: not yet known
  results::ProgressMeter meter_;
};

// Draws the bracket among the tried loads on a logarithmic scale, for example
// "[...===o==.....]". '=' lies between the highest load that met and the lowest
// that missed; 'o' is the last probe. Empty until there are two loads.
std::string BracketBar(const SearchReport& report, const Bracket& bracket,
                       int width);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_SEARCH_DISPLAY_H_
