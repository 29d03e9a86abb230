#include "distbench/results/time_series.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"
#include "google/protobuf/repeated_field.h"

namespace distbench {
namespace {

using RpcIntervals = google::protobuf::RepeatedPtrField<RpcInterval>;

absl::Status ValidateInterval(const RpcInterval& interval) {
  const int64_t least =
      std::min({interval.index(), interval.offered_count(),
                interval.sent_count(), interval.succeeded_count(),
                interval.failed_count(), interval.warmup_count(),
                interval.request_bytes(), interval.response_bytes()});
  if (least < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("interval ", interval.index(), " of a time series holds ",
                     least, ", but all its numbers are at least 0"));
  }
  absl::Status status;
  if (interval.has_service_time_ns()) {
    status = ValidateHistogram(interval.service_time_ns());
  }
  if (status.ok() && interval.has_response_time_ns()) {
    status = ValidateHistogram(interval.response_time_ns());
  }
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(
      "interval ", interval.index(), " of a time series: ", status.message()));
}

constexpr int kIntervalsPerPiece = 256;

// Requires a valid histogram, or none.
PackedHistogram Pack(const Histogram& proto) {
  LogHistogram histogram;
  AddHistogram(proto, histogram).IgnoreError();
  return PackedHistogram(histogram);
}

// Requires a valid interval.
IntervalSeries::Interval DecodeInterval(const RpcInterval& proto) {
  return {.counts = {.offered = proto.offered_count(),
                     .sent = proto.sent_count(),
                     .succeeded = proto.succeeded_count(),
                     .failed = proto.failed_count(),
                     .warmup = proto.warmup_count(),
                     .request_bytes = proto.request_bytes(),
                     .response_bytes = proto.response_bytes()},
          .service_time_ns = Pack(proto.service_time_ns()),
          .response_time_ns = Pack(proto.response_time_ns())};
}

// Requires valid histograms.
void MergeHistogram(const Histogram& from, Histogram& into) {
  LogHistogram sum;
  AddHistogram(into, sum).IgnoreError();
  AddHistogram(from, sum).IgnoreError();
  EncodeHistogram(sum, into);
}

void SetCount(int64_t count, void (RpcInterval::*set)(int64_t),
              RpcInterval& proto) {
  if (count != 0) (proto.*set)(count);
}

// Requires equal indices and valid intervals.
void AddInterval(const RpcInterval& from, RpcInterval& into) {
  const auto add = [&](int64_t (RpcInterval::*get)() const,
                       void (RpcInterval::*set)(int64_t)) {
    SetCount(SaturatingAdd((into.*get)(), (from.*get)()), set, into);
  };
  add(&RpcInterval::offered_count, &RpcInterval::set_offered_count);
  add(&RpcInterval::sent_count, &RpcInterval::set_sent_count);
  add(&RpcInterval::succeeded_count, &RpcInterval::set_succeeded_count);
  add(&RpcInterval::failed_count, &RpcInterval::set_failed_count);
  add(&RpcInterval::warmup_count, &RpcInterval::set_warmup_count);
  add(&RpcInterval::request_bytes, &RpcInterval::set_request_bytes);
  add(&RpcInterval::response_bytes, &RpcInterval::set_response_bytes);
  if (from.has_service_time_ns()) {
    if (!into.has_service_time_ns()) {
      *into.mutable_service_time_ns() = from.service_time_ns();
    } else {
      MergeHistogram(from.service_time_ns(), *into.mutable_service_time_ns());
    }
  }
  if (from.has_response_time_ns()) {
    if (!into.has_response_time_ns()) {
      *into.mutable_response_time_ns() = from.response_time_ns();
    } else {
      MergeHistogram(from.response_time_ns(), *into.mutable_response_time_ns());
    }
  }
}

// Requires valid series of equal intervals. Takes time only for the added
// intervals, not for existing ones: series arrive in pieces, in order.
void AddIntervals(RpcIntervals& from, RpcIntervals& into) {
  const auto begins_before = [](const RpcInterval& interval, int64_t index) {
    return interval.index() < index;
  };
  const int old_size = into.size();
  int next = 0;
  int first_new_place = old_size;
  for (RpcInterval& added : from) {
    const auto old_end = into.begin() + old_size;
    next = std::lower_bound(into.begin() + next, old_end, added.index(),
                            begins_before) -
           into.begin();
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
                     [](const RpcInterval* a, const RpcInterval* b) {
                       return a->index() < b->index();
                     });
}

}  // namespace

void EncodeInterval(const IntervalSeries::View& interval, RpcInterval& proto) {
  proto.Clear();
  const IntervalCounts& counts = interval.counts;
  proto.set_index(interval.index);
  SetCount(counts.offered, &RpcInterval::set_offered_count, proto);
  SetCount(counts.sent, &RpcInterval::set_sent_count, proto);
  SetCount(counts.succeeded, &RpcInterval::set_succeeded_count, proto);
  SetCount(counts.failed, &RpcInterval::set_failed_count, proto);
  SetCount(counts.warmup, &RpcInterval::set_warmup_count, proto);
  SetCount(counts.request_bytes, &RpcInterval::set_request_bytes, proto);
  SetCount(counts.response_bytes, &RpcInterval::set_response_bytes, proto);
  if (interval.service_time_ns.count() > 0) {
    EncodeHistogram(interval.service_time_ns, *proto.mutable_service_time_ns());
  }
  if (interval.response_time_ns.count() > 0) {
    EncodeHistogram(interval.response_time_ns,
                    *proto.mutable_response_time_ns());
  }
}

void EncodeTimeSeries(absl::Span<const IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit) {
  RpcTimeSeries piece;
  IntervalSeries::ForEach(series, [&](const IntervalSeries::View& interval) {
    EncodeInterval(interval, *piece.add_intervals());
    piece.set_interval_ns(IntervalSeries::WidestOf(series) * kSeriesStepNs);
    if (piece.intervals_size() < kIntervalsPerPiece) return;
    emit(std::move(piece));
    piece.Clear();
  });
  if (piece.intervals_size() > 0) emit(std::move(piece));
}

absl::Status AddTimeSeries(const RpcTimeSeries& proto, IntervalSeries& series) {
  if (absl::Status status = ValidateTimeSeries(proto); !status.ok()) {
    return status;
  }
  const int64_t steps = proto.interval_ns() / kSeriesStepNs;
  if (proto.interval_ns() % kSeriesStepNs != 0 ||
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
    if (absl::Status status = ValidateInterval(series.intervals(i));
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateOfferedLoad(const OfferedLoad& load) {
  if (load.offered_count() < 0 || load.unsent_count() < 0 ||
      load.held_back_count() < 0) {
    return absl::InvalidArgumentError(
        "an offered load has a negative count; all are at least 0");
  }
  return load.has_unsent_wait_ns() ? ValidateHistogram(load.unsent_wait_ns())
                                   : absl::OkStatus();
}

bool WidenTimeSeries(int64_t interval_ns, RpcTimeSeries& series) {
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

absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into) {
  if (absl::Status status = ValidateTimeSeries(from); !status.ok()) {
    return status;
  }
  if (into.intervals().empty()) {
    into = std::move(from);
    return absl::OkStatus();
  }
  const int64_t widest_ns = std::max(from.interval_ns(), into.interval_ns());
  if (!WidenTimeSeries(widest_ns, from) || !WidenTimeSeries(widest_ns, into)) {
    return absl::InvalidArgumentError(
        absl::StrCat("time series with intervals of ", from.interval_ns(),
                     " and ", into.interval_ns(), " ns cannot be merged"));
  }
  AddIntervals(*from.mutable_intervals(), *into.mutable_intervals());
  return absl::OkStatus();
}

absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into) {
  for (const OfferedLoad* load :
       std::initializer_list<const OfferedLoad*>{&from, &into}) {
    if (absl::Status status = ValidateOfferedLoad(*load); !status.ok()) {
      return status;
    }
  }
  into.set_offered_count(
      SaturatingAdd(into.offered_count(), from.offered_count()));
  into.set_unsent_count(
      SaturatingAdd(into.unsent_count(), from.unsent_count()));
  into.set_held_back_count(
      SaturatingAdd(into.held_back_count(), from.held_back_count()));
  if (!from.has_unsent_wait_ns()) return absl::OkStatus();
  if (into.has_unsent_wait_ns()) {
    MergeHistogram(from.unsent_wait_ns(), *into.mutable_unsent_wait_ns());
  } else {
    *into.mutable_unsent_wait_ns() = from.unsent_wait_ns();
  }
  return absl::OkStatus();
}

}  // namespace distbench
