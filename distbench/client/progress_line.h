// Where displays of progress write: on a terminal, one line that is redrawn and
// says the most important things that fit; elsewhere, lines.

#ifndef DISTBENCH_CLIENT_PROGRESS_LINE_H_
#define DISTBENCH_CLIENT_PROGRESS_LINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"

namespace distbench::client {

struct ProgressDisplayOptions {
  // The number of tests in the sequence that the events are about.
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

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_PROGRESS_LINE_H_
