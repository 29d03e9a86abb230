// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/recording/iteration_recorder.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/iteration_logs.h"

namespace distbench::engine {

void IterationRecorder::Add(int record_index, int64_t number, int64_t start_ns,
                            int64_t end_ns) {
  Record& record = records_[record_index];
  record.duration_ns.Record(end_ns - start_ns);
  if (number % record.stride != 0) return;
  record.kept.push_back({number, start_ns, end_ns - start_ns});
  if (static_cast<int64_t>(record.kept.size()) <= results::kMaxIterations) {
    return;
  }
  record.stride *= 2;
  std::erase_if(record.kept, [&](const Entry& entry) {
    return entry.number % record.stride != 0;
  });
}

bool IterationRecorder::Encode(int record_index, int64_t unix_offset_ns,
                               IterationLog& log) const {
  const Record& record = records_[record_index];
  if (record.duration_ns.count() == 0 && record.unfinished_count == 0) {
    return false;
  }
  log.Clear();
  results::EncodeHistogram(record.duration_ns, *log.mutable_duration_ns());
  log.set_unfinished_count(record.unfinished_count);
  log.set_stride(record.stride);
  // Iterations that run at the same time may end in another order.
  std::vector<Entry> kept = record.kept;
  absl::c_sort(
      kept, [](const Entry& a, const Entry& b) { return a.number < b.number; });
  for (const Entry& entry : kept) {
    log.add_numbers(entry.number);
    log.add_start_timestamps_ns(entry.start_ns + unix_offset_ns);
    log.add_durations_ns(entry.duration_ns);
  }
  return true;
}

}  // namespace distbench::engine
