// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/client/progress_display.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/terminal.h"
#include "distbench/base/time_units.h"
#include "distbench/results/progress_meter.h"
#include "distbench/results/run_failure.h"

namespace distbench::client {
namespace {

constexpr absl::string_view kClearLine = "\r\x1b[K";

void WriteToStderr(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void WriteNowhere(absl::string_view) {}

std::string Join(const std::vector<LinePart>& parts) {
  std::string line;
  bool after_figure = false;
  for (const LinePart& part : parts) {
    if (after_figure && part.is_figure) line += ", ";
    line += part.text;
    after_figure = part.is_figure;
  }
  return line;
}

}  // namespace

ProgressDisplayOptions StderrProgress(int test_count, bool quiet) {
  ProgressDisplayOptions options;
  options.test_count = test_count;
  const base::Terminal terminal = base::TerminalOf(STDERR_FILENO);
  options.terminal = terminal.is_terminal;
  options.columns = terminal.columns;
  options.write = quiet ? WriteNowhere : WriteToStderr;
  return options;
}

ProgressLine::ProgressLine(ProgressDisplayOptions options)
    : options_(std::move(options)) {}

ProgressLine::~ProgressLine() { Clear(); }

size_t ProgressLine::room() const {
  if (!options_.terminal) return std::string::npos;
  // The last column stays free: writing to it may begin a new line.
  return std::max(options_.columns - 1, 0);
}

void ProgressLine::Write(absl::string_view text) {
  Clear();
  options_.write(absl::StrCat(text, "\n"));
}

void ProgressLine::Show(absl::string_view text) {
  if (!options_.terminal) return Write(text);
  options_.write(absl::StrCat(kClearLine, text.substr(0, room())));
  is_drawn_ = true;
}

void ProgressLine::Clear() {
  if (!is_drawn_) return;
  options_.write(kClearLine);
  is_drawn_ = false;
}

std::string FitLine(std::vector<LinePart> parts, size_t room) {
  std::erase_if(parts, [](const LinePart& part) { return part.text.empty(); });
  std::string line = Join(parts);
  while (line.size() > room && parts.size() > 1) {
    parts.erase(std::max_element(
        parts.begin(), parts.end(),
        [](const LinePart& a, const LinePart& b) { return a.rank < b.rank; }));
    line = Join(parts);
  }
  line.resize(std::min(line.size(), room));
  return line;
}

namespace {

// Reports come once a second, but the last one may follow soon after another. A
// rate over such a short time would mostly reflect transmission delays.
constexpr int64_t kDrawIntervalNs = 500'000'000;

constexpr int64_t kLineIntervalNs = 5 * base::kNsPerSecond;
constexpr int kBarWidth = 20;
constexpr absl::string_view kNameSeparator = "  ";
constexpr size_t kShortestName = 6;

std::string Failures(const TrafficProgress& progress) {
  return absl::StrCat(progress.failed_count(), " failed");
}

// Sequencers and nodes of older versions do not say what open loops sent.
bool HasOpenLoops(const TrafficProgress& progress) {
  return progress.offered_count() > 0 && progress.has_open_loop_ended_count();
}

// Whether open loops sent all RPCs. The counts are read while they change, so
// that they may differ a little even then.
bool IsAllOpenLoops(const TrafficProgress& progress) {
  const int64_t ended =
      base::SaturatingAdd(progress.succeeded_count(), progress.failed_count());
  return base::SaturatingSubtract(ended, progress.open_loop_ended_count()) <=
         ended / 100;
}

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressDisplayOptions options)
    : line_(std::move(options)) {}

void ProgressDisplay::Show(const RunTestsEvent& event) {
  test_index_ = event.test_index();
  switch (event.event_case()) {
    case RunTestsEvent::kRunId:
      if (line_.options().show_run_id) {
        line_.Write(absl::StrCat("Run ", event.run_id()));
      }
      return;
    case RunTestsEvent::kQueuePosition:
      return ShowQueuePosition(event.queue_position());
    case RunTestsEvent::kStarted:
      return ShowStart(event.started());
    case RunTestsEvent::kProgress:
      return ShowProgress(event.progress());
    case RunTestsEvent::kFinished:
      return ShowEnd(event.finished());
    case RunTestsEvent::kResultChunk:
    case RunTestsEvent::EVENT_NOT_SET:
      return;
  }
}

void ProgressDisplay::ShowQueuePosition(int runs_ahead) {
  // For zero, the start that follows says enough.
  if (runs_ahead == 0) return;
  line_.Show(absl::StrCat("Waiting, ", runs_ahead,
                          runs_ahead == 1 ? " run ahead" : " runs ahead"));
}

void ProgressDisplay::ShowStart(const TestStarted& started) {
  const int64_t before_ns =
      is_first_start_ ? base::SaturatingMultiply(
                            line_.options().running_time_us, base::kNsPerUs)
                      : 0;
  is_first_start_ = false;
  has_baseline_ = before_ns == 0;
  runs_ = true;
  name_ = started.name();
  started_ns_ =
      base::SaturatingSubtract(line_.options().clock->MonotonicNs(), before_ns);
  expected_duration_ns_ =
      base::SaturatingMultiply(started.expected_duration_us(), base::kNsPerUs);
  shown_ns_ = started_ns_;
  meter_ = results::ProgressMeter();
  std::string text = absl::StrCat(Position(), name_, ": started");
  if (before_ns >= base::kNsPerSecond) {
    absl::StrAppend(&text, " ", before_ns / base::kNsPerSecond, " s ago");
  }
  if (expected_duration_ns_ > 0) {
    absl::StrAppendFormat(&text, ", takes about %.0f s",
                          base::ToSeconds(expected_duration_ns_));
  }
  line_.Show(text);
}

void ProgressDisplay::ShowProgress(const TrafficProgress& progress) {
  meter_.Add(progress);
  const int64_t now_ns = line_.options().clock->MonotonicNs();
  if (!has_baseline_) return SetBaseline(now_ns);
  const int64_t interval_ns = base::SaturatingSubtract(now_ns, shown_ns_);
  const bool is_terminal = line_.options().terminal;
  if (interval_ns < (is_terminal ? kDrawIntervalNs : kLineIntervalNs)) return;
  line_.Show(is_terminal ? TerminalLine(progress, now_ns)
                         : FileLine(progress, now_ns));
  SetBaseline(now_ns);
}

std::string ProgressDisplay::FileLine(const TrafficProgress& progress,
                                      int64_t now_ns) const {
  return FitLine({{absl::StrCat(Position(), name_, ": "), 0, false},
                  {Elapsed(now_ns), 1},
                  {absl::StrCat(progress.succeeded_count(), " RPCs"), 2},
                  {OfferedRate(progress), 3},
                  {TotalRate(progress), 4},
                  {Latency(50), 5},
                  {Latency(99), 6},
                  {Failures(progress), 7}},
                 line_.room());
}

std::string ProgressDisplay::TerminalLine(const TrafficProgress& progress,
                                          int64_t now_ns) const {
  const bool has_failures = progress.failed_count() > 0;
  const std::string failures = Failures(progress);
  std::string line = FitLine({{Position(), 2, false},
                              {Bar(now_ns), 8, false},
                              {has_failures ? failures : "", 0},
                              {Elapsed(now_ns), 4},
                              {OfferedRate(progress), 3},
                              {TotalRate(progress), 5},
                              {Latency(50), 7},
                              {Latency(99), 6},
                              {has_failures ? "" : failures, 1}},
                             line_.room());
  // A name that is cut off still says more than none.
  const size_t name_room = line_.room() - line.size();
  if (name_room >= kNameSeparator.size() + kShortestName) {
    absl::StrAppend(
        &line, kNameSeparator,
        absl::string_view(name_).substr(0, name_room - kNameSeparator.size()));
  }
  return line;
}

void ProgressDisplay::SetBaseline(int64_t now_ns) {
  has_baseline_ = true;
  shown_ns_ = now_ns;
  meter_.BeginInterval();
}

std::string ProgressDisplay::Rate(results::ProgressMeter::Count count) const {
  return base::HumanRate(meter_.PerSecond(count));
}

std::string ProgressDisplay::OfferedRate(
    const TrafficProgress& progress) const {
  if (!HasOpenLoops(progress) || meter_.time_ns() == 0) return "";
  // It is not known which RPCs failed. Those of open loops did if there are no
  // others.
  return absl::StrCat(
      Rate(IsAllOpenLoops(progress) ? &TrafficProgress::succeeded_count
                                    : &TrafficProgress::open_loop_ended_count),
      " of ", Rate(&TrafficProgress::offered_count));
}

std::string ProgressDisplay::TotalRate(const TrafficProgress& progress) const {
  const bool has_open_loops = HasOpenLoops(progress);
  if (meter_.time_ns() == 0 || (has_open_loops && IsAllOpenLoops(progress))) {
    return "";
  }
  return absl::StrCat(Rate(&TrafficProgress::succeeded_count),
                      has_open_loops ? " in all" : "");
}

std::string ProgressDisplay::Latency(double percent) const {
  return meter_.latencies().PercentileText(percent);
}

void ProgressDisplay::ShowEnd(const TestResult& result) {
  const RunInfo& info = result.run_info();
  if (!runs_ && !info.has_start_timestamp_ns()) {
    line_.Write(absl::StrCat(Position(), result.traffic_config().name(),
                             ": failed before it started"));
    return;
  }
  // If the test had ended before it was followed, its result has the duration.
  const int64_t duration_ns =
      runs_ ? base::SaturatingSubtract(line_.options().clock->MonotonicNs(),
                                       started_ns_)
            : base::SaturatingSubtract(info.end_timestamp_ns(),
                                       info.start_timestamp_ns());
  const std::string& name = runs_ ? name_ : result.traffic_config().name();
  runs_ = false;
  line_.Write(absl::StrFormat("%s%s: %s after %.1f s", Position(), name,
                              results::FailureOf(result) ? "failed" : "done",
                              base::ToSeconds(duration_ns)));
}

std::string ProgressDisplay::Position() const {
  const int count = line_.options().test_count;
  return count == 0 ? absl::StrFormat("[%d] ", test_index_ + 1)
                    : absl::StrFormat("[%d/%d] ", test_index_ + 1, count);
}

std::string ProgressDisplay::Elapsed(int64_t now_ns) const {
  const int64_t elapsed_ns = base::SaturatingSubtract(now_ns, started_ns_);
  std::string text = absl::StrCat(elapsed_ns / base::kNsPerSecond, " s");
  if (expected_duration_ns_ > 0) {
    // Rounded up, so that 0 appears only at the end; the time after that is the
    // wait for the last answers.
    const int64_t left_ns =
        std::max<int64_t>(0, expected_duration_ns_ - elapsed_ns);
    absl::StrAppend(
        &text, ", ",
        left_ns / base::kNsPerSecond + (left_ns % base::kNsPerSecond > 0),
        " s left");
  }
  return text;
}

std::string ProgressDisplay::Bar(int64_t now_ns) const {
  if (expected_duration_ns_ <= 0) return "";
  const int64_t elapsed_ns = base::SaturatingSubtract(now_ns, started_ns_);
  const double share = static_cast<double>(elapsed_ns) /
                       static_cast<double>(expected_duration_ns_);
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '-'), "] ");
}

}  // namespace distbench::client
