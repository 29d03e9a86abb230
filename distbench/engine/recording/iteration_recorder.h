// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_RECORDING_ITERATION_RECORDER_H_
#define DISTBENCH_ENGINE_RECORDING_ITERATION_RECORDER_H_

#include <cstdint>
#include <vector>

#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// When the iterations of some actions of one worker began, and how long they
// took. Of many iterations, it keeps those whose numbers are multiples of a
// power of 2, so that workers and instances keep the same ones. Not
// thread-safe.
class IterationRecorder {
 public:
  // Records are numbered from 0.
  explicit IterationRecorder(int record_count) : records_(record_count) {}

  // Times are monotonic.
  void Add(int record, int64_t number, int64_t start_ns, int64_t end_ns);
  void AddUnfinished(int record) { ++records_[record].unfinished_count; }

  // Replaces the content of `log`. Returns false, and does nothing, if nothing
  // was added to the record. unix_offset_ns: Unix time minus monotonic time.
  bool Encode(int record, int64_t unix_offset_ns, IterationLog& log) const;

 private:
  struct Entry {
    int64_t number;
    int64_t start_ns;
    int64_t duration_ns;
  };
  struct Record {
    stats::LogHistogram duration_ns;
    int64_t unfinished_count = 0;
    int64_t stride = 1;
    std::vector<Entry> kept;
  };

  std::vector<Record> records_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_RECORDING_ITERATION_RECORDER_H_
