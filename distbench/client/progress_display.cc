#include "distbench/client/progress_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench {

namespace {

constexpr int64_t kNsPerUs = 1'000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kLineIntervalNs = 5 * kNsPerSecond;
constexpr int kBarWidth = 20;
constexpr absl::string_view kClearLine = "\r\x1b[K";

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

void ProgressDisplay::ShowQueuePosition(int sequences_ahead) {
  // Zero is said by the start that follows.
  if (sequences_ahead == 0) return;
  const std::string text =
      absl::StrCat("Waiting for ", sequences_ahead,
                   sequences_ahead == 1 ? " test sequence" : " test sequences",
                   " of others");
  options_.terminal ? Draw(text) : WriteLine(text);
}

void ProgressDisplay::ShowStart(const TestStarted& started) {
  name_ = started.name();
  started_ns_ = options_.clock->MonotonicNs();
  expected_duration_ns_ = started.expected_duration_us() * kNsPerUs;
  shown_ns_ = started_ns_;
  shown_count_ = 0;
  std::string text = absl::StrCat(Position(), name_, ": started");
  if (expected_duration_ns_ > 0) {
    absl::StrAppendFormat(
        &text, ", takes about %.0f s",
        static_cast<double>(expected_duration_ns_) / kNsPerSecond);
  }
  options_.terminal ? Draw(text) : WriteLine(text);
}

void ProgressDisplay::ShowProgress(const TrafficProgress& progress) {
  const int64_t now_ns = options_.clock->MonotonicNs();
  const int64_t interval_ns = now_ns - shown_ns_;
  if (interval_ns <= 0) return;
  if (!options_.terminal && interval_ns < kLineIntervalNs) return;

  const int64_t count = progress.succeeded_count() - shown_count_;
  const double kqps = static_cast<double>(count) * 1e6 / interval_ns;
  shown_ns_ = now_ns;
  shown_count_ = progress.succeeded_count();
  if (options_.terminal) {
    // The name comes last: where the terminal is too narrow, it may go.
    Draw(absl::StrFormat("%s%s%s, %.2f kQPS, %d failed  %s", Position(),
                         Bar(now_ns), Elapsed(now_ns), kqps,
                         progress.failed_count(), name_));
  } else {
    WriteLine(absl::StrFormat("%s%s: %s, %d RPCs (%.2f kQPS), %d failed",
                              Position(), name_, Elapsed(now_ns),
                              progress.succeeded_count(), kqps,
                              progress.failed_count()));
  }
}

void ProgressDisplay::ShowEnd(const TestResult& result) {
  const double seconds =
      static_cast<double>(options_.clock->MonotonicNs() - started_ns_) /
      kNsPerSecond;
  Clear();
  WriteLine(absl::StrFormat("%s%s: %s after %.1f s", Position(), name_,
                            result.run_info().has_failure() ? "failed" : "done",
                            seconds));
}

void ProgressDisplay::WriteLine(absl::string_view text) {
  options_.write(absl::StrCat(text, "\n"));
}

void ProgressDisplay::Draw(absl::string_view text) {
  // The last column stays free: writing it may begin a new line.
  const int room = std::max(options_.columns - 1, 0);
  options_.write(absl::StrCat(kClearLine, text.substr(0, room)));
  drawn_ = true;
}

std::string ProgressDisplay::Position() const {
  return absl::StrFormat("[%d/%d] ", test_index_ + 1, options_.test_count);
}

std::string ProgressDisplay::Elapsed(int64_t now_ns) const {
  std::string text = absl::StrCat((now_ns - started_ns_) / kNsPerSecond, " s");
  if (expected_duration_ns_ > 0) {
    absl::StrAppend(&text, " of ", expected_duration_ns_ / kNsPerSecond, " s");
  }
  return text;
}

std::string ProgressDisplay::Bar(int64_t now_ns) const {
  if (expected_duration_ns_ <= 0) return "";
  const double share = static_cast<double>(now_ns - started_ns_) /
                       static_cast<double>(expected_duration_ns_);
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'),
                      std::string(kBarWidth - filled, '-'), "] ");
}

}  // namespace distbench
