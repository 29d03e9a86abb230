// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/reading/metric_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/threads.h"
#include "distbench/base/time_units.h"
#include "distbench/products/server_metrics/server_metrics.h"

namespace distbench::server_metrics {
namespace {

constexpr size_t kMaxMessage = 300;

// Prometheus writes milliseconds.
constexpr int64_t kTimestampErrorNs = 500'000;

constexpr char kMissed[] =
    "was not made, because the one before it took longer than the interval";

template <typename Field>
void DropEverySecond(Field& values) {
  int kept = 0;
  for (int i = 0; i < values.size(); i += 2) values[kept++] = values[i];
  values.Truncate(kept);
}

}  // namespace

// ---- ReadingLog -------------------------------------------------------------

ReadingLog::ReadingLog(const ServerMetric& entry) : scale_(ScaleOf(entry)) {
  log_.set_name(entry.name());
  log_.set_interval_ns(entry.interval_ns());
  log_.set_failed_count(0);
}

void ReadingLog::Add(const absl::StatusOr<SourceReading>& reading,
                     int64_t begin_ns, int64_t end_ns) {
  const bool is_kept = number_++ % stride_ == 0;
  const int64_t duration_ns = base::SaturatingSubtract(end_ns, begin_ns);
  AddDuration(duration_ns);
  if (!reading.ok()) {
    AddFailure(1, begin_ns, std::string(reading.status().message()));
    return;
  }
  const int64_t middle_ns = begin_ns + duration_ns / 2;
  if (reading->timestamp_s) {
    AddClockOffset(*reading->timestamp_s, middle_ns, duration_ns / 2);
  }
  const double value = reading->value * scale_;
  if (!std::isfinite(value)) {
    AddFailure(1, begin_ns, "the value is too large");
    return;
  }
  if (!is_kept) return;
  log_.add_timestamps_ns(middle_ns);
  log_.add_values(value);
  if (log_.values_size() >= kMaxValues) Thin();
}

void ReadingLog::AddMissed(int64_t count, int64_t due_ns) {
  if (count <= 0) return;
  number_ += count;
  AddFailure(count, due_ns, kMissed);
}

void ReadingLog::AddFailure(int64_t count, int64_t timestamp_ns,
                            const std::string& message) {
  log_.set_failed_count(log_.failed_count() + count);
  if (log_.failures_size() >= kMaxFailures) return;
  FailedReading& failure = *log_.add_failures();
  failure.set_timestamp_ns(timestamp_ns);
  failure.set_message(base::PrintableLine(message).substr(0, kMaxMessage));
}

void ReadingLog::AddDuration(int64_t duration_ns) {
  ValueMoments& all = *log_.mutable_duration_ns();
  const auto duration = static_cast<double>(duration_ns);
  all.set_min(all.count() == 0 ? duration_ns
                               : std::min(all.min(), duration_ns));
  all.set_max(std::max(all.max(), duration_ns));
  all.set_count(all.count() + 1);
  all.set_sum(all.sum() + duration);
  all.set_sum_of_squares(all.sum_of_squares() + duration * duration);
}

// The source's time was within the reading.
void ReadingLog::AddClockOffset(double source_s, int64_t middle_ns,
                                int64_t error_ns) {
  // Far from any time, and from what has room in 64 bits.
  if (!(std::abs(source_s) < 1e9 * 9)) return;
  error_ns += kTimestampErrorNs;
  if (log_.has_clock_offset() && log_.clock_offset().error_ns() <= error_ns) {
    return;
  }
  const auto source_ns = static_cast<int64_t>(source_s * base::kNsPerSecond);
  log_.mutable_clock_offset()->set_offset_ns(
      base::SaturatingSubtract(source_ns, middle_ns));
  log_.mutable_clock_offset()->set_error_ns(error_ns);
}

void ReadingLog::Thin() {
  DropEverySecond(*log_.mutable_timestamps_ns());
  DropEverySecond(*log_.mutable_values());
  stride_ *= 2;
  log_.set_interval_ns(base::SaturatingMultiply(log_.interval_ns(), 2));
}

// ---- MetricReader -----------------------------------------------------------

MetricReader::MetricReader(const ServerMetric& entry,
                           std::unique_ptr<MetricSource> source)
    : entry_(entry), source_(std::move(source)), log_(entry) {}

void MetricReader::Start(const base::Clock& clock, int64_t start_ns) {
  absl::StatusOr<std::thread> thread =
      base::StartThread("reading a server metric",
                        [this, &clock, start_ns] { Run(clock, start_ns); });
  if (thread.ok()) {
    thread_ = *std::move(thread);
  } else {
    log_.Add(thread.status(), clock.UnixNs(), clock.UnixNs());
  }
}

void MetricReader::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  source_->Cancel();
}

void MetricReader::Stop() {
  if (!thread_) return;
  Cancel();
  thread_->join();
  thread_.reset();
}

void MetricReader::Run(const base::Clock& clock, int64_t start_ns) {
  base::NameThread("server_metrics");
  const int64_t interval_ns = entry_.interval_ns();
  const auto due_ns = [&](int64_t number) {
    return base::SaturatingAdd(start_ns,
                               base::SaturatingMultiply(number, interval_ns));
  };
  for (int64_t number = 1; WaitUntil(clock, due_ns(number)); ++number) {
    ReadOnce(clock);
    const int64_t now_ns = clock.MonotonicNs();
    const int64_t missed = (now_ns - start_ns) / interval_ns - number;
    log_.AddMissed(missed, clock.UnixNs() - (now_ns - due_ns(number + 1)));
    number += std::max<int64_t>(missed, 0);
  }
}

bool MetricReader::WaitUntil(const base::Clock& clock, int64_t due_ns) {
  absl::MutexLock lock(&mutex_);
  while (!ends_) {
    const int64_t left_ns = due_ns - clock.MonotonicNs();
    if (left_ns <= 0) return true;
    mutex_.AwaitWithTimeout(absl::Condition(&ends_),
                            absl::Nanoseconds(left_ns));
  }
  return false;
}

// A reading that the end of the traffic cuts short is none, unless it had been
// under way for an interval or more.
void MetricReader::ReadOnce(const base::Clock& clock) {
  const int64_t begin_ns = clock.UnixNs();
  absl::StatusOr<SourceReading> reading =
      source_->Read(absl::Nanoseconds(entry_.timeout_ns()));
  const int64_t end_ns = clock.UnixNs();
  if (absl::IsCancelled(reading.status())) {
    if (end_ns - begin_ns < entry_.interval_ns()) return;
    reading = absl::DeadlineExceededError(
        "there was no value when the traffic ended");
  }
  log_.Add(reading, begin_ns, end_ns);
}

}  // namespace distbench::server_metrics
