// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Shows users the progress of the tests that they wait for.

#ifndef DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_
#define DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/results/progress_meter.h"
#include "proto/control.pb.h"

namespace distbench::client {

// Where displays of progress write: on a terminal, one line that is redrawn and
// says the most important things that fit; elsewhere, lines.

struct ProgressDisplayOptions {
  // The number of tests in the sequence that the events are about; 0 if it is
  // not known.
  int test_count = 1;

  // Whether to show the run's id.
  bool show_run_id = false;

  // How long the traffic of the first test has been under way when the display
  // starts, in microseconds. Set this to follow a run from its middle.
  int64_t running_time_us = 0;

  // A terminal has one line that is redrawn; other outputs get a new line every
  // few seconds.
  bool terminal = false;

  // Width of the terminal, in characters.
  int columns = 80;

  const base::Clock* clock = &base::RealClock();
  std::function<void(absl::string_view text)> write;
};

// Returns options for stderr: whether it is a terminal, and its width. If
// `quiet`, nothing is written.
ProgressDisplayOptions StderrProgress(int test_count, bool quiet = false);

// Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressDisplayOptions options);

  // Calls Clear().
  ~ProgressLine();

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  const ProgressDisplayOptions& options() const { return options_; }

  // Characters that Show() has room for; a file has room for all.
  size_t room() const;

  // Writes a line that stays.
  void Write(absl::string_view text);

  // Redraws the terminal's line; elsewhere, writes a line.
  void Show(absl::string_view text);

  // Removes the line from the terminal, so that other output can follow.
  void Clear();

 private:
  const ProgressDisplayOptions options_;
  bool is_drawn_ = false;
};

struct LinePart {
  std::string text;

  // The part with the highest rank is the first to be left out. Ranks differ.
  int rank = 0;

  // Figures are joined by commas; other parts contain their own blanks.
  bool is_figure = true;
};

// Returns the parts in their order, without empty ones and as many of low rank
// as `room` characters can hold. Cuts off the end if even the part of lowest
// rank is too long.
std::string FitLine(std::vector<LinePart> parts, size_t room);

// Not thread-safe.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressDisplayOptions options);

  // Shows an event of TestClient::RunTests() or GetRun(). Pass all events in
  // order. The end of a test leaves the terminal's line clear.
  void Show(const RunTestsEvent& event);

  // Removes the line from the terminal, so that other output can follow.
  void Clear() { line_.Clear(); }

 private:
  void ShowQueuePosition(int runs_ahead);
  void ShowStart(const TestStarted& started);
  void ShowProgress(const TrafficProgress& progress);
  void ShowEnd(const TestResult& result);

  // Returns text such as "[2/3] ".
  std::string Position() const;
  // Elapsed() returns "12 s, 18 s left", and Bar() shows the same as a bar.
  // Both are empty if the test does not say how long it takes.
  std::string Elapsed(int64_t now_ns) const;
  std::string Bar(int64_t now_ns) const;

  // The line of a file has everything, that of a terminal what fits. A terminal
  // shows failures before everything else.
  std::string FileLine(const TrafficProgress& progress, int64_t now_ns) const;
  std::string TerminalLine(const TrafficProgress& progress,
                           int64_t now_ns) const;

  // The next rate begins with the progress that was added last.
  void SetBaseline(int64_t now_ns);

  // The rates since the last line; empty if nothing was counted since then.
  // OfferedRate() returns "1.23k/s of 1.50k/s" for what open loops sent and
  // offered; empty without open loops. TotalRate() returns "2.34k/s", of all
  // RPCs; empty if open loops sent all.
  std::string OfferedRate(const TrafficProgress& progress) const;
  std::string TotalRate(const TrafficProgress& progress) const;
  std::string Rate(results::ProgressMeter::Count count) const;

  // Returns "p99 3.40ms"; empty if no RPC has succeeded lately.
  std::string Latency(double percent) const;

  ProgressLine line_;  // clear when the display is gone
  bool is_first_start_ = true;

  // The running test.
  int test_index_ = 0;
  std::string name_;
  bool runs_ = false;  // the test has started and not ended
  int64_t started_ns_ = 0;
  int64_t expected_duration_ns_ = 0;  // 0: unknown

  // From the progress that was shown last. A test that is followed from its
  // middle has none until its first progress arrives.
  bool has_baseline_ = true;
  int64_t shown_ns_ = 0;
  results::ProgressMeter meter_;
};

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_
