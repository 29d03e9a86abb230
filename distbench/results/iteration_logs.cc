// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/iteration_logs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/results/message_sums.h"

namespace distbench::results {
namespace {

constexpr CounterTexts kTexts = {
    .negative_count =
        "a log of iterations has a negative count; all are at least 0",
    .bad_histogram = "$0 of a log of iterations: $1"};

absl::Status Invalid(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("a log of iterations ", why));
}

// By number: when the iteration began, and how long it took.
using Listed = std::map<int64_t, std::pair<int64_t, int64_t>>;

int64_t StrideOf(const IterationLog& log) {
  return std::max<int64_t>(1, log.stride());
}

void List(const IterationLog& log, int64_t stride, Listed& listed) {
  for (int i = 0; i < log.numbers_size(); ++i) {
    if (log.numbers(i) % stride != 0) continue;
    listed[log.numbers(i)] = {log.start_timestamps_ns(i), log.durations_ns(i)};
  }
}

absl::Status ValidateLists(const IterationLog& log) {
  const int64_t stride = StrideOf(log);
  if ((stride & (stride - 1)) != 0) {
    return Invalid(
        absl::StrCat("has the stride ", log.stride(), ", no power of 2"));
  }
  if (log.start_timestamps_ns_size() != log.numbers_size() ||
      log.durations_ns_size() != log.numbers_size()) {
    return Invalid("lists numbers, starts and durations of different length");
  }
  for (int i = 0; i < log.numbers_size(); ++i) {
    if (log.numbers(i) < 0 || log.durations_ns(i) < 0) {
      return Invalid("has a negative number or duration; all are at least 0");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MergeIterationLog(const IterationLog& from, IterationLog& into) {
  if (absl::Status status = ValidateLists(from); !status.ok()) return status;
  const int64_t stride = std::max(StrideOf(from), StrideOf(into));
  if (absl::Status status = MergeCounters(from, kTexts, into); !status.ok()) {
    return status;
  }
  into.set_stride(stride);  // which is no count
  Listed listed;
  List(into, stride, listed);
  List(from, stride, listed);
  into.clear_numbers();
  into.clear_start_timestamps_ns();
  into.clear_durations_ns();
  for (const auto& [number, times] : listed) {
    into.add_numbers(number);
    into.add_start_timestamps_ns(times.first);
    into.add_durations_ns(times.second);
  }
  return absl::OkStatus();
}

}  // namespace distbench::results
