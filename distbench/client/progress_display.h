// Shows people how far the tests that they wait for are.

#ifndef DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_
#define DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"

namespace distbench {

struct ProgressDisplayOptions {
  // Of the sequence that the events are about.
  int test_count = 1;

  // Say the run's id.
  bool show_run_id = false;

  // For how long the traffic of the first test that starts has been under way,
  // in microseconds: of a run that is followed from its middle.
  int64_t running_time_us = 0;

  // A terminal has one line that is drawn again and again; anything else gets a
  // line of its own every few seconds.
  bool terminal = false;

  // Width of the terminal, in characters.
  int columns = 80;

  const Clock* clock = &RealClock();
  std::function<void(absl::string_view text)> write;
};

// For stderr as it is: a terminal or not, and how wide.
ProgressDisplayOptions StderrProgress(int test_count);

// Not thread-safe.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressDisplayOptions options);

  // Clears.
  ~ProgressDisplay();

  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // Takes the events of TestClient::RunTests() or GetRun(), all of them, in
  // order. The end of a test leaves the terminal clear.
  void Show(const RunTestsEvent& event);

  // Removes the line from the terminal, so that other output may follow.
  void Clear();

 private:
  void ShowQueuePosition(int runs_ahead);
  void ShowStart(const TestStarted& started);
  void ShowProgress(const TrafficProgress& progress);
  void ShowEnd(const TestResult& result);

  // A line that stays.
  void WriteLine(absl::string_view text);
  // The terminal's line.
  void Draw(absl::string_view text);

  // "[2/3] ".
  std::string Position() const;
  // "12 s, 18 s left", and a bar that says the same; empty if the test does not
  // say how long it takes.
  std::string Elapsed(int64_t now_ns) const;
  std::string Bar(int64_t now_ns) const;

  // The progress that rates are computed from next.
  void SetBaseline(const TrafficProgress& progress, int64_t now_ns);

  // "1.23 kQPS", or "1.23 of 1.50 kQPS" of what an open loop offers; and
  // ", p50 1.20 ms, p99 3.40 ms", empty if nothing has succeeded lately.
  std::string Rate(const TrafficProgress& progress, int64_t interval_ns) const;
  std::string Latency() const;

  const ProgressDisplayOptions options_;
  bool drawn_ = false;
  bool is_first_start_ = true;

  // The test that runs.
  int test_index_ = 0;
  std::string name_;
  bool runs_ = false;  // the test has started, and not ended
  int64_t started_ns_ = 0;
  int64_t expected_duration_ns_ = 0;  // 0: unknown

  // What was shown last, for rates. Of a test that is followed from its middle,
  // that is nothing until progress comes.
  bool has_baseline_ = true;
  int64_t shown_ns_ = 0;
  int64_t shown_count_ = 0;
  int64_t shown_offered_count_ = 0;

  // What came since then.
  LogHistogram service_time_ns_;
  LogHistogram response_time_ns_;
};

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_PROGRESS_DISPLAY_H_
