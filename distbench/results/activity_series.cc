#include "distbench/results/activity_series.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/encoded_series.h"
#include "distbench/results/histogram_proto.h"

namespace distbench::results {
namespace {

constexpr int kActivityIntervalsPerPiece = 256;

absl::Status ValidateInterval(const ActivityInterval& interval) {
  const int64_t least = std::min(
      {interval.index(), interval.offered_count(), interval.completed_count(),
       interval.input_bytes(), interval.output_bytes()});
  if (least < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "interval ", interval.index(), " of an activity's series holds ", least,
        ", but all its numbers are at least 0"));
  }
  absl::Status status;
  if (interval.has_read_ns()) status = ValidateHistogram(interval.read_ns());
  if (status.ok() && interval.has_write_ns()) {
    status = ValidateHistogram(interval.write_ns());
  }
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("interval ", interval.index(),
                   " of an activity's series: ", status.message()));
}

void AddCount(int64_t count, int64_t (ActivityInterval::*get)() const,
              void (ActivityInterval::*set)(int64_t), ActivityInterval& into) {
  if (count != 0) (into.*set)(base::SaturatingAdd((into.*get)(), count));
}

void AddInterval(const ActivityInterval& from, ActivityInterval& into) {
  const auto add = [&](int64_t (ActivityInterval::*get)() const,
                       void (ActivityInterval::*set)(int64_t)) {
    AddCount((from.*get)(), get, set, into);
  };
  add(&ActivityInterval::offered_count, &ActivityInterval::set_offered_count);
  add(&ActivityInterval::completed_count,
      &ActivityInterval::set_completed_count);
  add(&ActivityInterval::input_bytes, &ActivityInterval::set_input_bytes);
  add(&ActivityInterval::output_bytes, &ActivityInterval::set_output_bytes);
  if (from.has_read_ns()) {
    MergeHistogram(from.read_ns(), *into.mutable_read_ns());
  }
  if (from.has_write_ns()) {
    MergeHistogram(from.write_ns(), *into.mutable_write_ns());
  }
}

constexpr SeriesRules<ActivitySeries> kActivityRules = {
    .validate = &ValidateInterval, .add = &AddInterval};

void EncodeInterval(const stats::IntervalSeries::View& interval,
                    ActivityInterval& proto) {
  const stats::IntervalCounts& counts = interval.counts;
  const auto set = [&](int64_t count, int64_t (ActivityInterval::*get)() const,
                       void (ActivityInterval::*set_count)(int64_t)) {
    AddCount(count, get, set_count, proto);
  };
  proto.set_index(interval.index);
  set(counts.offered, &ActivityInterval::offered_count,
      &ActivityInterval::set_offered_count);
  set(counts.succeeded, &ActivityInterval::completed_count,
      &ActivityInterval::set_completed_count);
  set(counts.request_bytes, &ActivityInterval::input_bytes,
      &ActivityInterval::set_input_bytes);
  set(counts.response_bytes, &ActivityInterval::output_bytes,
      &ActivityInterval::set_output_bytes);
  if (interval.service_time_ns.count() > 0) {
    EncodeHistogram(interval.service_time_ns, *proto.mutable_read_ns());
  }
  if (interval.response_time_ns.count() > 0) {
    EncodeHistogram(interval.response_time_ns, *proto.mutable_write_ns());
  }
}

}  // namespace

void EncodeActivitySeries(const stats::IntervalSeries& series,
                          absl::FunctionRef<void(ActivitySeries piece)> emit) {
  ActivitySeries piece;
  stats::IntervalSeries::ForEach(
      {&series}, [&](const stats::IntervalSeries::View& interval) {
        EncodeInterval(interval, *piece.add_intervals());
        piece.set_interval_ns(series.width() * stats::kSeriesStepNs);
        if (piece.intervals_size() < kActivityIntervalsPerPiece) return;
        emit(std::move(piece));
        piece.Clear();
      });
  if (piece.intervals_size() > 0) emit(std::move(piece));
}

absl::Status ValidateActivitySeries(const ActivitySeries& series) {
  if (absl::Status status = ValidateSeries(series, kActivityRules);
      !status.ok()) {
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

absl::Status MergeActivitySeries(ActivitySeries from, ActivitySeries& into) {
  if (absl::Status status = ValidateActivitySeries(from); !status.ok()) {
    return status;
  }
  return MergeSeries(kActivityRules, std::move(from), into);
}

}  // namespace distbench::results
