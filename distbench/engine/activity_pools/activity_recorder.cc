// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activity_recorder.h"

namespace distbench::engine {

ActivityRecorder::ActivityRecorder(const Options& options)
    : recording_memory_bytes_(options.recording_memory_bytes),
      unix_offset_ns_(options.unix_offset_ns),
      series_(options.activity_count) {}

void ActivityRecorder::CountOffered(int activity, int64_t due_ns,
                                    int64_t count) {
  const int64_t step = StepOf(due_ns);
  absl::MutexLock lock(&mutex_);
  SeriesAt(activity, step).At(step).offered += count;
}

void ActivityRecorder::CountDone(int activity, int64_t done_ns,
                                 const activity::Work& work,
                                 activity::Activity* activity_that_did_it) {
  const int64_t step = StepOf(done_ns);
  absl::MutexLock lock(&mutex_);
  stats::IntervalSeries& series = SeriesAt(activity, step);
  stats::IntervalCounts& counts = series.At(step);
  ++counts.succeeded;
  counts.request_bytes += work.input_bytes;
  counts.response_bytes += work.output_bytes;
  if (activity_that_did_it == nullptr) return;
  activity_that_did_it->TakeLatencies(read_ns_, write_ns_);
  if (read_ns_.count() > 0) {
    series.ServiceTimes(step).Merge(read_ns_);
    read_ns_.Clear();
  }
  if (write_ns_.count() > 0) {
    series.ResponseTimes(step).Merge(write_ns_);
    write_ns_.Clear();
  }
}

const stats::IntervalSeries* ActivityRecorder::series(int activity) const {
  absl::MutexLock lock(&mutex_);
  return series_[activity].get();
}

int64_t ActivityRecorder::recording_memory_bytes() const {
  absl::MutexLock lock(&mutex_);
  int64_t bytes = 0;
  for (const stats::IntervalSeries* series : all_series_) {
    bytes += series->memory_bytes();
  }
  return bytes;
}

stats::IntervalSeries& ActivityRecorder::SeriesAt(int activity, int64_t step) {
  if (step > last_step_) {
    last_step_ = step;
    OnNewSecond();
  }
  std::unique_ptr<stats::IntervalSeries>& series = series_[activity];
  if (series == nullptr) {
    series = std::make_unique<stats::IntervalSeries>(width_);
    all_series_.push_back(series.get());
  }
  return *series;
}

void ActivityRecorder::OnNewSecond() {
  for (stats::IntervalSeries* series : all_series_) series->Close();
  width_ = stats::IntervalSeries::KeepWithin(recording_memory_bytes_, width_,
                                             all_series_);
}

}  // namespace distbench::engine
