// Shows people how a search goes.

#ifndef DISTBENCH_SEARCH_SEARCH_DISPLAY_H_
#define DISTBENCH_SEARCH_SEARCH_DISPLAY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/client/progress_display.h"
#include "distbench/search/search_run.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

// A line for each probe that stays: before it on anything but a terminal, which
// shows what runs in a line of its own, and after it everywhere. Not
// thread-safe.
class SearchDisplay {
 public:
  explicit SearchDisplay(ProgressDisplayOptions options);

  // Clears.
  ~SearchDisplay();

  SearchDisplay(const SearchDisplay&) = delete;
  SearchDisplay& operator=(const SearchDisplay&) = delete;

  void ShowPlan(const SearchPlan& plan);

  // Takes the callbacks of RunLoadSearch().
  void Announce(const PlannedProbe& probe);
  void Show(const RunTestsEvent& event);
  void Observe(const SearchReport& report, const SearchProbe& probe);

  // The verdict, and what it rests on.
  void ShowVerdict(const SearchReport& report);

  // Removes the line from the terminal, so that other output may follow.
  void Clear();

 private:
  void WriteLine(absl::string_view text);
  void Draw(absl::string_view text);

  // "6 s left, 812 per second, p99 31 ms" of the probe that runs.
  std::string Status(int64_t now_ns) const;

  const ProgressDisplayOptions options_;
  bool drawn_ = false;

  // Of the probe that runs.
  PlannedProbe probe_;
  int64_t started_ns_ = 0;
  int64_t shown_ns_ = 0;
  int64_t shown_count_ = 0;
  int64_t count_ = 0;
  LogHistogram latency_ns_;
};

// Where the bracket is among the loads that were tried, in logarithms, such as
// "[...===o==.....]": '=' is between the highest load that met and the lowest
// that missed, 'o' is the last probe. Empty before there are two loads.
std::string BracketBar(const SearchReport& report, int width);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_SEARCH_DISPLAY_H_
