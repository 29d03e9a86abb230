#include "distbench/client/progress_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/results/histogram_proto.h"

namespace distbench {

namespace {

// Reports come once a second, but the last one may follow soon after another. A
// rate over such a short time would mostly reflect transmission delays.
constexpr int64_t kDrawIntervalNs = 500'000'000;

constexpr int64_t kLineIntervalNs = 5 * kNsPerSecond;
constexpr int kBarWidth = 20;
constexpr absl::string_view kClearLine = "\r\x1b[K";

// Keeps three digits; more would be noise.
absl::Duration Rounded(int64_t ns) {
  int64_t unit_ns = 1;
  while (ns / unit_ns >= 1000) unit_ns *= 10;
  return absl::Nanoseconds(ns / unit_ns * unit_ns);
}

void WriteToStderr(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressDisplayOptions StderrProgress(int test_count) {
  ProgressDisplayOptions options;
  options.test_count = test_count;
  options.terminal = isatty(STDERR_FILENO) != 0;
  winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.columns = size.ws_col;
  }
  options.write = WriteToStderr;
  return options;
}

ProgressDisplay::ProgressDisplay(ProgressDisplayOptions options)
    : options_(std::move(options)) {}

ProgressDisplay::~ProgressDisplay() { Clear(); }

void ProgressDisplay::Show(const RunTestsEvent& event) {
  test_index_ = event.test_index();
  switch (event.event_case()) {
    case RunTestsEvent::kRunId:
      if (options_.show_run_id) WriteLine(absl::StrCat("Run ", event.run_id()));
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

void ProgressDisplay::Clear() {
  if (!drawn_) return;
  options_.write(kClearLine);
  drawn_ = false;
}

void ProgressDisplay::ShowQueuePosition(int runs_ahead) {
  // For zero, the start that follows says enough.
  if (runs_ahead == 0) return;
  const std::string text =
      absl::StrCat("Waiting, ", runs_ahead,
                   runs_ahead == 1 ? " run ahead" : " runs ahead");
  options_.terminal ? Draw(text) : WriteLine(text);
}

void ProgressDisplay::ShowStart(const TestStarted& started) {
  const int64_t before_ns =
      is_first_start_
          ? SaturatingMultiply(options_.running_time_us, kNsPerUs)
          : 0;
  is_first_start_ = false;
  has_baseline_ = before_ns == 0;
  runs_ = true;
  name_ = started.name();
  started_ns_ = SaturatingSubtract(options_.clock->MonotonicNs(), before_ns);
  expected_duration_ns_ =
      SaturatingMultiply(started.expected_duration_us(), kNsPerUs);
  shown_ns_ = started_ns_;
  shown_count_ = 0;
  shown_offered_count_ = 0;
  service_time_ns_.Clear();
  response_time_ns_.Clear();
  std::string text = absl::StrCat(Position(), name_, ": started");
  if (before_ns >= kNsPerSecond) {
    absl::StrAppend(&text, " ", before_ns / kNsPerSecond, " s ago");
  }
  if (expected_duration_ns_ > 0) {
    absl::StrAppendFormat(
        &text, ", takes about %.0f s",
        static_cast<double>(expected_duration_ns_) / kNsPerSecond);
  }
  options_.terminal ? Draw(text) : WriteLine(text);
}

void ProgressDisplay::ShowProgress(const TrafficProgress& progress) {
  // The sequencer's recent latencies are for display only.
  AddHistogram(progress.recent_service_time_ns(), service_time_ns_)
      .IgnoreError();
  AddHistogram(progress.recent_response_time_ns(), response_time_ns_)
      .IgnoreError();
  const int64_t now_ns = options_.clock->MonotonicNs();
  if (!has_baseline_) return SetBaseline(progress, now_ns);
  const int64_t interval_ns = SaturatingSubtract(now_ns, shown_ns_);
  if (interval_ns < (options_.terminal ? kDrawIntervalNs : kLineIntervalNs)) {
    return;
  }

  const std::string figures =
      absl::StrCat(Rate(progress, interval_ns), Latency(), ", ",
                   progress.failed_count(), " failed");
  if (options_.terminal) {
    // The name comes last, so that a narrow terminal cuts off only the name.
    Draw(absl::StrCat(Position(), Bar(now_ns), Elapsed(now_ns), ", ", figures,
                      "  ", name_));
  } else {
    WriteLine(absl::StrCat(Position(), name_, ": ", Elapsed(now_ns), ", ",
                           progress.succeeded_count(), " RPCs, ", figures));
  }
  SetBaseline(progress, now_ns);
}

void ProgressDisplay::SetBaseline(const TrafficProgress& progress,
                                  int64_t now_ns) {
  has_baseline_ = true;
  shown_ns_ = now_ns;
  shown_count_ = progress.succeeded_count();
  shown_offered_count_ = progress.offered_count();
  service_time_ns_.Clear();
  response_time_ns_.Clear();
}

std::string ProgressDisplay::Rate(const TrafficProgress& progress,
                                  int64_t interval_ns) const {
  const auto kilo_per_second = [interval_ns](int64_t count) {
    return static_cast<double>(count) * 1e6 / static_cast<double>(interval_ns);
  };
  const double achieved =
      kilo_per_second(progress.succeeded_count() - shown_count_);
  if (progress.offered_count() == 0) {
    return absl::StrFormat("%.2f kQPS", achieved);
  }
  const double offered =
      kilo_per_second(progress.offered_count() - shown_offered_count_);
  return absl::StrFormat("%.2f of %.2f kQPS", achieved, offered);
}

std::string ProgressDisplay::Latency() const {
  const LogHistogram& latency_ns =
      response_time_ns_.count() > 0 ? response_time_ns_ : service_time_ns_;
  if (latency_ns.count() == 0) return "";
  return absl::StrFormat(
      ", p50 %s, p99 %s",
      absl::FormatDuration(Rounded(latency_ns.ValueAtQuantile(0.5))),
      absl::FormatDuration(Rounded(latency_ns.ValueAtQuantile(0.99))));
}

void ProgressDisplay::ShowEnd(const TestResult& result) {
  Clear();
  const RunInfo& info = result.run_info();
  if (!runs_ && !info.has_start_timestamp_ns()) {
    WriteLine(absl::StrCat(Position(), result.traffic_config().name(),
                           ": failed before it started"));
    return;
  }
  // If the test had ended before it was followed, its result has the duration.
  const int64_t duration_ns =
      runs_ ? SaturatingSubtract(options_.clock->MonotonicNs(), started_ns_)
            : SaturatingSubtract(info.end_timestamp_ns(),
                                 info.start_timestamp_ns());
  const std::string& name = runs_ ? name_ : result.traffic_config().name();
  runs_ = false;
  WriteLine(absl::StrFormat("%s%s: %s after %.1f s", Position(), name,
                            info.has_failure() ? "failed" : "done",
                            static_cast<double>(duration_ns) / kNsPerSecond));
}

void ProgressDisplay::WriteLine(absl::string_view text) {
  options_.write(absl::StrCat(text, "\n"));
}

void ProgressDisplay::Draw(absl::string_view text) {
  // Leave the last column free: writing to it may begin a new line.
  const int room = std::max(options_.columns - 1, 0);
  options_.write(absl::StrCat(kClearLine, text.substr(0, room)));
  drawn_ = true;
}

std::string ProgressDisplay::Position() const {
  return absl::StrFormat("[%d/%d] ", test_index_ + 1, options_.test_count);
}

std::string ProgressDisplay::Elapsed(int64_t now_ns) const {
  const int64_t elapsed_ns = SaturatingSubtract(now_ns, started_ns_);
  std::string text = absl::StrCat(elapsed_ns / kNsPerSecond, " s");
  if (expected_duration_ns_ > 0) {
    // Rounded up, so that 0 appears only at the end; the time after that is the
    // wait for the last answers.
    const int64_t left_ns =
        std::max<int64_t>(0, expected_duration_ns_ - elapsed_ns);
    absl::StrAppend(&text, ", ",
                    left_ns / kNsPerSecond + (left_ns % kNsPerSecond > 0),
                    " s left");
  }
  return text;
}

std::string ProgressDisplay::Bar(int64_t now_ns) const {
  if (expected_duration_ns_ <= 0) return "";
  const int64_t elapsed_ns = SaturatingSubtract(now_ns, started_ns_);
  const double share = static_cast<double>(elapsed_ns) /
                       static_cast<double>(expected_duration_ns_);
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '-'), "] ");
}

}  // namespace distbench
