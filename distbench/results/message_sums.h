// One walk over messages of numbers by their descriptors, so that no field is
// forgotten where they are checked, added up, or kept as plain structs.
//
// A field is known by its type: counts (int64), amounts (double), Histogram and
// ValueMoments. Repeated fields and those of other types are the caller's.

#ifndef DISTBENCH_RESULTS_MESSAGE_SUMS_H_
#define DISTBENCH_RESULTS_MESSAGE_SUMS_H_

#include <cstdint>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/saturating_add.h"
#include "distbench/stats/log_histogram.h"
#include "google/protobuf/message.h"

namespace distbench::results {

// ---- Messages ---------------------------------------------------------------

// How errors speak of a message of some type.
struct CounterTexts {
  absl::string_view negative_count;        // $0: the least of the counts
  absl::string_view bad_histogram = "$1";  // $0: its field; $1: what is wrong
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

// ---- Structs ----------------------------------------------------------------

// The member of a struct that has the value of a message's field. An array of
// them, which has one for each such field, is the struct's table.
template <typename Struct>
struct FieldMember {
  int field;  // its number
  std::variant<int64_t Struct::*, stats::LogHistogram Struct::*,
               stats::RunningMoments Struct::*>
      member;
};

// Add a field of a valid message to a member.
void AddField(const google::protobuf::Message& message, int field,
              int64_t& member);
void AddField(const google::protobuf::Message& message, int field,
              stats::LogHistogram& member);
void AddField(const google::protobuf::Message& message, int field,
              stats::RunningMoments& member);

// Set a field, unless the member is a distribution without values.
void EncodeField(int64_t member, int field, google::protobuf::Message& message);
void EncodeField(const stats::LogHistogram& member, int field,
                 google::protobuf::Message& message);
void EncodeField(const stats::RunningMoments& member, int field,
                 google::protobuf::Message& message);

// Add a member to that of another struct. Counts saturate.
inline void AddMember(int64_t from, int64_t& into) {
  base::SaturatingAddTo(into, from);
}
template <typename Distribution>
void AddMember(const Distribution& from, Distribution& into) {
  into.Merge(from);
}

// The same for all fields or members of a table.
template <typename Table, typename Struct>
void AddFields(const Table& table, const google::protobuf::Message& message,
               Struct& into) {
  for (const FieldMember<Struct>& entry : table) {
    std::visit(
        [&](auto member) { AddField(message, entry.field, into.*member); },
        entry.member);
  }
}

template <typename Table, typename Struct>
void EncodeFields(const Table& table, const Struct& from,
                  google::protobuf::Message& message) {
  for (const FieldMember<Struct>& entry : table) {
    std::visit(
        [&](auto member) { EncodeField(from.*member, entry.field, message); },
        entry.member);
  }
}

template <typename Table, typename Struct>
void AddMembers(const Table& table, const Struct& from, Struct& into) {
  for (const FieldMember<Struct>& entry : table) {
    std::visit([&](auto member) { AddMember(from.*member, into.*member); },
               entry.member);
  }
}

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_MESSAGE_SUMS_H_
