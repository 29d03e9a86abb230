// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/child_process.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/text_scanner.h"
#include "distbench/base/wakeup.h"
#include "distbench/products/server_metrics/reading/metric_source.h"

namespace distbench::server_metrics {
namespace {

constexpr size_t kMaxOutputBytes = 4096;
constexpr size_t kMaxQuoted = 100;

absl::StatusOr<SourceReading> ParseOutput(absl::string_view output) {
  const absl::string_view text = absl::StripAsciiWhitespace(output);
  const std::optional<double> value = base::ParseNumber(text);
  if (value) return SourceReading{.value = *value};
  return absl::FailedPreconditionError(
      text.empty()
          ? std::string("the command printed nothing; it must print "
                        "one number")
          : absl::StrCat("the command printed \"", text.substr(0, kMaxQuoted),
                         "\"; it must print one number"));
}

class CommandSource final : public MetricSource {
 public:
  CommandSource(const std::string& command, base::Wakeup cancelled)
      : command_(command), cancelled_(std::move(cancelled)) {}

  absl::StatusOr<SourceReading> Read(absl::Duration timeout) override {
    const int64_t deadline_ns =
        base::NowNs() + absl::ToInt64Nanoseconds(timeout);
    base::FileDescriptor output;
    absl::StatusOr<base::ChildProcess> process =
        base::ChildProcess::Start({.path = "/bin/sh",
                                   .arguments = {"sh", "-c", command_},
                                   .ends_with_parent = true,
                                   .end_signal = SIGKILL},
                                  &output);
    if (!process.ok()) return process.status();
    const absl::StatusOr<std::string> text = ReadAll(output, deadline_ns);
    if (!text.ok()) return text.status();
    if (!process->HasEnded(absl::Nanoseconds(deadline_ns - base::NowNs()))) {
      return TimedOut();
    }
    const int wait_status = process->Finish();
    if (wait_status == 0) return ParseOutput(*text);
    return absl::FailedPreconditionError(
        absl::StrCat("the command ", base::DescribeExit(wait_status), ": ",
                     absl::StripAsciiWhitespace(*text).substr(0, kMaxQuoted)));
  }

  void Cancel() override {
    is_cancelled_ = true;
    cancelled_.Wake();
  }

 private:
  static absl::Status TimedOut() {
    return absl::DeadlineExceededError(
        "the command did not end within the timeout");
  }

  // What the command prints until it closes its output.
  absl::StatusOr<std::string> ReadAll(const base::FileDescriptor& output,
                                      int64_t deadline_ns) {
    std::string text;
    while (true) {
      const int64_t left_ns = std::max<int64_t>(deadline_ns - base::NowNs(), 0);
      pollfd events[] = {
          {.fd = output.get(), .events = POLLIN, .revents = 0},
          {.fd = cancelled_.fd(), .events = POLLIN, .revents = 0}};
      const timespec wait = {
          .tv_sec = static_cast<time_t>(left_ns / base::kNsPerSecond),
          .tv_nsec = static_cast<long>(left_ns % base::kNsPerSecond)};
      const int ready = ppoll(events, 2, &wait, nullptr);
      if (ready < 0 && errno == EINTR) continue;
      if (is_cancelled_) return absl::CancelledError("the traffic ended");
      if (ready <= 0) return TimedOut();
      char bytes[1024];
      const ssize_t count = read(output.get(), bytes, sizeof(bytes));
      if (count <= 0) return text;
      text.append(bytes, count);
      if (text.size() > kMaxOutputBytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the command printed more than ", kMaxOutputBytes,
                         " bytes; it must print one number"));
      }
    }
  }

  const std::string command_;
  base::Wakeup cancelled_;
  std::atomic<bool> is_cancelled_ = false;
};

// For a host that has no descriptors left.
class NoSource final : public MetricSource {
 public:
  explicit NoSource(absl::Status why) : why_(std::move(why)) {}
  absl::StatusOr<SourceReading> Read(absl::Duration) override { return why_; }
  void Cancel() override {}

 private:
  const absl::Status why_;
};

}  // namespace

std::unique_ptr<MetricSource> MakeCommandSource(const std::string& command) {
  absl::StatusOr<base::Wakeup> cancelled = base::Wakeup::Make();
  if (!cancelled.ok()) return std::make_unique<NoSource>(cancelled.status());
  return std::make_unique<CommandSource>(command, *std::move(cancelled));
}

}  // namespace distbench::server_metrics
