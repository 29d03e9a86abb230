// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/time_series.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"

namespace distbench::results {
namespace {

// Series are RpcTimeSeries or ActivitySeries: messages with interval_ns, and
// intervals with ascending indices.
template <typename Series>
using IntervalOf =
    std::remove_cvref_t<decltype(std::declval<const Series&>().intervals(0))>;

// In errors.
template <typename Series>
constexpr absl::string_view kSeriesName = "a time series";
template <>
constexpr absl::string_view kSeriesName<ActivitySeries> =
    "an activity's series";

constexpr int kIntervalsPerPiece = 256;

// ---- Encoding ---------------------------------------------------------------

struct CountOfInterval {
  int field;  // of the message
  int64_t stats::IntervalCounts::*count;
};

constexpr CountOfInterval kRpcCounts[] = {
    {RpcInterval::kOfferedCountFieldNumber, &stats::IntervalCounts::offered},
    {RpcInterval::kSentCountFieldNumber, &stats::IntervalCounts::sent},
    {RpcInterval::kSucceededCountFieldNumber,
     &stats::IntervalCounts::succeeded},
    {RpcInterval::kFailedCountFieldNumber, &stats::IntervalCounts::failed},
    {RpcInterval::kWarmupCountFieldNumber, &stats::IntervalCounts::warmup},
    {RpcInterval::kRequestBytesFieldNumber,
     &stats::IntervalCounts::request_bytes},
    {RpcInterval::kResponseBytesFieldNumber,
     &stats::IntervalCounts::response_bytes},
    {RpcInterval::kAttemptCountFieldNumber, &stats::IntervalCounts::attempts}};

constexpr CountOfInterval kActivityCounts[] = {
    {ActivityInterval::kOfferedCountFieldNumber,
     &stats::IntervalCounts::offered},
    {ActivityInterval::kCompletedCountFieldNumber,
     &stats::IntervalCounts::succeeded},
    {ActivityInterval::kInputBytesFieldNumber,
     &stats::IntervalCounts::request_bytes},
    {ActivityInterval::kOutputBytesFieldNumber,
     &stats::IntervalCounts::response_bytes}};

// Counts that are 0 are left out.
template <typename Interval>
void EncodeCounts(absl::Span<const CountOfInterval> fields,
                  const stats::IntervalSeries::View& interval,
                  Interval& proto) {
  proto.set_index(interval.index);
  for (const CountOfInterval& entry : fields) {
    const int64_t count = interval.counts.*entry.count;
    if (count != 0) EncodeField(count, entry.field, proto);
  }
}

void EncodeInterval(const stats::IntervalSeries::View& interval,
                    RpcInterval& proto) {
  EncodeCounts(kRpcCounts, interval, proto);
  EncodeField(interval.service_time_ns, RpcInterval::kServiceTimeNsFieldNumber,
              proto);
  EncodeField(interval.response_time_ns,
              RpcInterval::kResponseTimeNsFieldNumber, proto);
}

void EncodeInterval(const stats::IntervalSeries::View& interval,
                    ActivityInterval& proto) {
  EncodeCounts(kActivityCounts, interval, proto);
  EncodeField(interval.service_time_ns, ActivityInterval::kReadNsFieldNumber,
              proto);
  EncodeField(interval.response_time_ns, ActivityInterval::kWriteNsFieldNumber,
              proto);
}

template <typename Series>
void EncodeSeries(absl::Span<const stats::IntervalSeries* const> series,
                  absl::FunctionRef<void(Series piece)> emit) {
  Series piece;
  stats::IntervalSeries::ForEach(
      series, [&](const stats::IntervalSeries::View& interval) {
        EncodeInterval(interval, *piece.add_intervals());
        piece.set_interval_ns(stats::IntervalSeries::WidestOf(series) *
                              stats::kSeriesStepNs);
        if (piece.intervals_size() < kIntervalsPerPiece) return;
        emit(std::move(piece));
        piece.Clear();
      });
  if (piece.intervals_size() > 0) emit(std::move(piece));
}

// Requires a valid interval.
stats::IntervalSeries::Interval DecodeInterval(const RpcInterval& proto) {
  stats::IntervalSeries::Interval interval = {
      .service_time_ns =
          stats::PackedHistogram(HistogramOf(proto.service_time_ns())),
      .response_time_ns =
          stats::PackedHistogram(HistogramOf(proto.response_time_ns()))};
  AddCounts(proto, interval.counts);
  return interval;
}

// ---- Validation -------------------------------------------------------------

template <typename Series>
absl::Status ValidateInterval(const IntervalOf<Series>& interval) {
  const absl::Status status = ValidateCounters(
      interval,
      {.negative_count = " holds $0, but all its numbers are at least 0",
       .bad_histogram = ": $1"});
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("interval ", interval.index(),
                                                 " of ", kSeriesName<Series>,
                                                 status.message()));
}

template <typename Series>
absl::Status ValidateSeries(const Series& series) {
  if (series.interval_ns() <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a time series has intervals of ", series.interval_ns(),
                     " ns; they must have at least one"));
  }
  for (int i = 0; i < series.intervals_size(); ++i) {
    if (i > 0 &&
        series.intervals(i).index() <= series.intervals(i - 1).index()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a time series has interval ", series.intervals(i).index(),
          " after interval ", series.intervals(i - 1).index()));
    }
    if (absl::Status status = ValidateInterval<Series>(series.intervals(i));
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// ---- Merging ----------------------------------------------------------------

// Requires equal indices and valid intervals.
template <typename Interval>
void AddInterval(const Interval& from, Interval& into) {
  AddCounters(from, into, {Interval::kIndexFieldNumber});
}

// Merges neighbouring intervals so that each is interval_ns wide. Requires a
// valid series. Returns false, and changes nothing, if interval_ns is not a
// multiple of the present width.
template <typename Series>
bool WidenSeries(int64_t interval_ns, Series& series) {
  if (interval_ns % series.interval_ns() != 0) return false;
  const int64_t ratio = interval_ns / series.interval_ns();
  series.set_interval_ns(interval_ns);
  if (ratio == 1) return true;
  auto& intervals = *series.mutable_intervals();
  int kept = 0;
  for (int i = 0; i < intervals.size(); ++i) {
    intervals[i].set_index(intervals[i].index() / ratio);
    if (kept > 0 && intervals[kept - 1].index() == intervals[i].index()) {
      AddInterval(intervals[i], intervals[kept - 1]);
    } else {
      intervals.SwapElements(kept++, i);
    }
  }
  intervals.DeleteSubrange(kept, intervals.size() - kept);
  return true;
}

// Requires valid series of equal width.
template <typename Series>
void AddIntervals(Series& from, Series& into_series) {
  using Interval = IntervalOf<Series>;
  auto& into = *into_series.mutable_intervals();
  const auto begins_before = [](const Interval& interval, int64_t index) {
    return interval.index() < index;
  };
  const int old_size = into.size();
  int next = 0;
  int first_new_place = old_size;
  for (Interval& added : *from.mutable_intervals()) {
    const auto old_end = into.begin() + old_size;
    next = static_cast<int>(std::lower_bound(into.begin() + next, old_end,
                                             added.index(), begins_before) -
                            into.begin());
    if (next < old_size && into[next].index() == added.index()) {
      AddInterval(added, into[next]);
    } else {
      first_new_place = std::min(first_new_place, next);
      into.Add(std::move(added));
    }
  }
  // Only pointers move; none move if all new intervals come last.
  if (first_new_place == old_size) return;
  std::inplace_merge(into.pointer_begin() + first_new_place,
                     into.pointer_begin() + old_size, into.pointer_end(),
                     [](const Interval* a, const Interval* b) {
                       return a->index() < b->index();
                     });
}

// Requires that `from` is valid.
template <typename Series>
absl::Status MergeSeries(Series from, Series& into) {
  if (into.intervals().empty()) {
    into = std::move(from);
    return absl::OkStatus();
  }
  const int64_t widest_ns = std::max(from.interval_ns(), into.interval_ns());
  if (!WidenSeries(widest_ns, from) || !WidenSeries(widest_ns, into)) {
    return absl::InvalidArgumentError(
        absl::StrCat("time series with intervals of ", from.interval_ns(),
                     " and ", into.interval_ns(), " ns cannot be merged"));
  }
  AddIntervals(from, into);
  return absl::OkStatus();
}

}  // namespace

void EncodeTimeSeries(absl::Span<const stats::IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit) {
  EncodeSeries<RpcTimeSeries>(series, emit);
}

void EncodeActivitySeries(const stats::IntervalSeries& series,
                          absl::FunctionRef<void(ActivitySeries piece)> emit) {
  EncodeSeries<ActivitySeries>({&series}, emit);
}

void AddCounts(const RpcInterval& interval, stats::IntervalCounts& counts) {
  for (const CountOfInterval& entry : kRpcCounts) {
    AddField(interval, entry.field, counts.*entry.count);
  }
}

absl::Status AddTimeSeries(const RpcTimeSeries& proto,
                           stats::IntervalSeries& series) {
  if (absl::Status status = ValidateTimeSeries(proto); !status.ok()) {
    return status;
  }
  const int64_t steps = proto.interval_ns() / stats::kSeriesStepNs;
  if (proto.interval_ns() % stats::kSeriesStepNs != 0 ||
      (!proto.intervals().empty() &&
       proto.intervals().rbegin()->index() >
           std::numeric_limits<int64_t>::max() / proto.interval_ns())) {
    return absl::InvalidArgumentError(
        absl::StrCat("a time series has intervals of ", proto.interval_ns(),
                     " ns that are no seconds of Unix time"));
  }
  for (const RpcInterval& interval : proto.intervals()) {
    series.Add(interval.index() * steps, DecodeInterval(interval));
  }
  return absl::OkStatus();
}

absl::Status ValidateTimeSeries(const RpcTimeSeries& series) {
  return ValidateSeries(series);
}

absl::Status ValidateActivitySeries(const ActivitySeries& series) {
  if (absl::Status status = ValidateSeries(series); !status.ok()) {
    return status;
  }
  if (!series.intervals().empty() &&
      series.intervals().rbegin()->index() >=
          std::numeric_limits<int64_t>::max() / series.interval_ns()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "interval ", series.intervals().rbegin()->index(),
        " of an activity's series is later than 64-bit nanoseconds can say"));
  }
  return absl::OkStatus();
}

absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into) {
  absl::Status status = ValidateTimeSeries(from);
  return status.ok() ? MergeSeries(std::move(from), into) : status;
}

absl::Status MergeActivitySeries(ActivitySeries from, ActivitySeries& into) {
  absl::Status status = ValidateActivitySeries(from);
  return status.ok() ? MergeSeries(std::move(from), into) : status;
}

absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into) {
  return MergeCounters(
      from,
      {.negative_count =
           "an offered load has a negative count; all are at least 0"},
      into);
}

}  // namespace distbench::results
