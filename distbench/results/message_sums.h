// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One walk over messages of numbers by their descriptors, so that no field is
// forgotten where they are checked, added up or recorded.
//
// A field is known by its type: counts (int64), amounts (double), Histogram and
// ValueMoments. Repeated fields and those of other types are the caller's.

#ifndef DISTBENCH_RESULTS_MESSAGE_SUMS_H_
#define DISTBENCH_RESULTS_MESSAGE_SUMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/stats/log_histogram.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "proto/control.pb.h"

namespace distbench::results {

// ---- Messages ---------------------------------------------------------------

// How errors speak of a message of some type.
struct CounterTexts {
  // $0: the least of the counts
  absl::string_view negative_count =
      "statistics hold $0, but all their numbers are at least 0";
  absl::string_view bad_histogram = "$0: $1";  // its field, and what is wrong
};

// Checks that counts are at least 0, and that histograms and moments do not
// contradict themselves. Otherwise INVALID_ARGUMENT.
absl::Status ValidateCounters(const google::protobuf::Message& message,
                              const CounterTexts& texts);

// Adds the fields that `from` has. Requires valid messages of the same type.
// Counts saturate. Fields whose numbers are in `levels` count nothing: the sum
// has the level of `from`.
void AddCounters(const google::protobuf::Message& from,
                 google::protobuf::Message& into,
                 absl::Span<const int> levels = {});

// Adds the totals of a part of the traffic, or of a test, to others, without
// its recent latencies. Any numbers may be added; the traffic time is the
// longest.
void AddProgress(const TrafficProgress& part, TrafficProgress& sum);

// The same for any messages of the same type: INVALID_ARGUMENT, and adds
// nothing, if one of them is invalid.
absl::Status MergeCounters(const google::protobuf::Message& from,
                           const CounterTexts& texts,
                           google::protobuf::Message& into);

// What becomes of fields of which there is no earlier reading.
enum class WithoutStart { kRemoved, kCountedFromZero };

// Turns a later reading of counts and amounts into what was counted since
// `start`; levels stay. None becomes negative: the kernel may correct idle
// times downwards.
void SubtractCounters(const google::protobuf::Message& start,
                      google::protobuf::Message& into,
                      absl::Span<const int> levels = {},
                      WithoutStart without_start = WithoutStart::kRemoved);

// Adds the count or the values of a field of a valid message.
void AddField(const google::protobuf::Message& message, int field,
              int64_t& count);
void AddField(const google::protobuf::Message& message, int field,
              stats::LogHistogram& values);
void AddField(const google::protobuf::Message& message, int field,
              stats::RunningMoments& values);

// Sets a field, unless it would be a distribution without values.
void EncodeField(int64_t count, int field, google::protobuf::Message& message);
void EncodeField(const stats::LogHistogram& values, int field,
                 google::protobuf::Message& message);
void EncodeField(const stats::RunningMoments& values, int field,
                 google::protobuf::Message& message);

// ---- Tallies ----------------------------------------------------------------

// The numbers of a message while they are recorded, or added up from many: by
// their fields' numbers, at the cost of plain members. Counts saturate only
// where messages are added. Not thread-safe.
class Tally {
 public:
  explicit Tally(const google::protobuf::Descriptor& type);

  // What a field counts. The message must have a field of this kind.
  int64_t& count(int field) { return fields_[field].count; }
  stats::LogHistogram& histogram(int field) {
    std::unique_ptr<stats::LogHistogram>& values = fields_[field].histogram;
    if (values == nullptr) values = std::make_unique<stats::LogHistogram>();
    return *values;
  }
  stats::RunningMoments& moments(int field) { return fields_[field].moments; }

  // Adds a message of this type. INVALID_ARGUMENT, and adds nothing, if the
  // message or the sum is invalid.
  absl::Status Add(const google::protobuf::Message& message);

  // Replaces the content of the message: sets all counts, and the distributions
  // that have values.
  void Encode(google::protobuf::Message& message) const;

 private:
  absl::Status ValidateSumWith(const google::protobuf::Message& message) const;

  // Only the member of the field's kind is used.
  struct Field {
    int64_t count = 0;
    std::unique_ptr<stats::LogHistogram> histogram;
    stats::RunningMoments moments;
  };

  const google::protobuf::Descriptor& type_;
  std::vector<Field> fields_;  // by number
};

// The tally of a type of messages, such as PolicyStatistics.
template <typename Statistics>
class TallyOf final : public Tally {
 public:
  TallyOf() : Tally(*Statistics::descriptor()) {}
};

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_MESSAGE_SUMS_H_
