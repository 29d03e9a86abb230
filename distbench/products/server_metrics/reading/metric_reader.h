// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Reads one metric at regular times, on a thread of its own.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_READER_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/products/server_metrics/reading/metric_source.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::server_metrics {

// More values than this are thinned out: every second one is dropped, and the
// interval doubles.
inline constexpr int kMaxValues = 10'000;

// The failed readings of which the result says when and why.
inline constexpr int kMaxFailures = 10;

// The readings of one metric as the result keeps them. Not thread-safe.
class ReadingLog {
 public:
  explicit ReadingLog(const ServerMetric& entry);

  // Adds a reading that began and ended at these times of the sequencer's
  // clock, in Unix nanoseconds. Times ascend.
  void Add(const absl::StatusOr<SourceReading>& reading, int64_t begin_ns,
           int64_t end_ns);

  // Adds `count` readings that were due and not made, the first at `due_ns`.
  void AddMissed(int64_t count, int64_t due_ns);

  const ServerMetricLog& log() const { return log_; }

 private:
  void AddFailure(int64_t count, int64_t timestamp_ns,
                  const std::string& message);
  void AddDuration(int64_t duration_ns);
  void AddClockOffset(double source_s, int64_t middle_ns, int64_t error_ns);
  void Thin();

  const double scale_;
  int64_t stride_ = 1;  // of the readings, every so manieth is kept
  int64_t number_ = 0;  // of the next reading
  ServerMetricLog log_;
};

// Reads from the start of the traffic to Stop(). The calls are made by one
// thread.
class MetricReader {
 public:
  MetricReader(const ServerMetric& entry, std::unique_ptr<MetricSource> source);
  ~MetricReader() { Stop(); }

  MetricReader(const MetricReader&) = delete;
  MetricReader& operator=(const MetricReader&) = delete;

  // Starts reading, first one interval after `start_ns`. `clock` as in
  // TestPartExtension::TrafficBegins().
  void Start(const base::Clock& clock, int64_t start_ns);

  // Lets a reading that is being made end, with an error; does not wait for it.
  void Cancel();

  // Cancels, and waits for the thread, which does not take long.
  void Stop();

  // After Stop().
  const ServerMetricLog& log() const { return log_.log(); }

 private:
  void Run(const base::Clock& clock, int64_t start_ns);

  // Waits until this monotonic time; returns false if the readings are to end.
  bool WaitUntil(const base::Clock& clock, int64_t due_ns);
  void ReadOnce(const base::Clock& clock);

  const ServerMetric entry_;
  const std::unique_ptr<MetricSource> source_;
  ReadingLog log_;  // of the thread, while it runs
  std::optional<std::thread> thread_;

  absl::Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_READER_H_
