#include "distbench/results/time_series.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/saturating_add.h"
#include "distbench/results/encoded_series.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/packed_histogram.h"

namespace distbench::results {
namespace {

absl::Status ValidateInterval(const RpcInterval& interval) {
  const int64_t least = std::min(
      {interval.index(), interval.offered_count(), interval.sent_count(),
       interval.succeeded_count(), interval.failed_count(),
       interval.warmup_count(), interval.request_bytes(),
       interval.response_bytes(), interval.attempt_count()});
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
stats::PackedHistogram Pack(const Histogram& proto) {
  stats::LogHistogram histogram;
  AddHistogram(proto, histogram).IgnoreError();
  return stats::PackedHistogram(histogram);
}

// Requires a valid interval.
stats::IntervalSeries::Interval DecodeInterval(const RpcInterval& proto) {
  return {.counts = {.offered = proto.offered_count(),
                     .sent = proto.sent_count(),
                     .succeeded = proto.succeeded_count(),
                     .failed = proto.failed_count(),
                     .warmup = proto.warmup_count(),
                     .request_bytes = proto.request_bytes(),
                     .response_bytes = proto.response_bytes(),
                     .attempts = proto.attempt_count()},
          .service_time_ns = Pack(proto.service_time_ns()),
          .response_time_ns = Pack(proto.response_time_ns())};
}

void SetCount(int64_t count, void (RpcInterval::*set)(int64_t),
              RpcInterval& proto) {
  if (count != 0) (proto.*set)(count);
}

// Requires equal indices and valid intervals.
void AddInterval(const RpcInterval& from, RpcInterval& into) {
  const auto add = [&](int64_t (RpcInterval::*get)() const,
                       void (RpcInterval::*set)(int64_t)) {
    SetCount(base::SaturatingAdd((into.*get)(), (from.*get)()), set, into);
  };
  add(&RpcInterval::offered_count, &RpcInterval::set_offered_count);
  add(&RpcInterval::sent_count, &RpcInterval::set_sent_count);
  add(&RpcInterval::succeeded_count, &RpcInterval::set_succeeded_count);
  add(&RpcInterval::failed_count, &RpcInterval::set_failed_count);
  add(&RpcInterval::warmup_count, &RpcInterval::set_warmup_count);
  add(&RpcInterval::request_bytes, &RpcInterval::set_request_bytes);
  add(&RpcInterval::response_bytes, &RpcInterval::set_response_bytes);
  add(&RpcInterval::attempt_count, &RpcInterval::set_attempt_count);
  if (from.has_service_time_ns()) {
    MergeHistogram(from.service_time_ns(), *into.mutable_service_time_ns());
  }
  if (from.has_response_time_ns()) {
    MergeHistogram(from.response_time_ns(), *into.mutable_response_time_ns());
  }
}

constexpr SeriesRules<RpcTimeSeries> kRpcRules = {.validate = &ValidateInterval,
                                                  .add = &AddInterval};

}  // namespace

void EncodeInterval(const stats::IntervalSeries::View& interval,
                    RpcInterval& proto) {
  proto.Clear();
  const stats::IntervalCounts& counts = interval.counts;
  proto.set_index(interval.index);
  SetCount(counts.offered, &RpcInterval::set_offered_count, proto);
  SetCount(counts.sent, &RpcInterval::set_sent_count, proto);
  SetCount(counts.succeeded, &RpcInterval::set_succeeded_count, proto);
  SetCount(counts.failed, &RpcInterval::set_failed_count, proto);
  SetCount(counts.warmup, &RpcInterval::set_warmup_count, proto);
  SetCount(counts.request_bytes, &RpcInterval::set_request_bytes, proto);
  SetCount(counts.response_bytes, &RpcInterval::set_response_bytes, proto);
  SetCount(counts.attempts, &RpcInterval::set_attempt_count, proto);
  if (interval.service_time_ns.count() > 0) {
    EncodeHistogram(interval.service_time_ns, *proto.mutable_service_time_ns());
  }
  if (interval.response_time_ns.count() > 0) {
    EncodeHistogram(interval.response_time_ns,
                    *proto.mutable_response_time_ns());
  }
}

void EncodeTimeSeries(absl::Span<const stats::IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit) {
  RpcTimeSeries piece;
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
  return ValidateSeries(series, kRpcRules);
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
  return WidenSeries(interval_ns, kRpcRules, series);
}

absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into) {
  return MergeSeries(kRpcRules, std::move(from), into);
}

absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into) {
  for (const OfferedLoad* load :
       std::initializer_list<const OfferedLoad*>{&from, &into}) {
    if (absl::Status status = ValidateOfferedLoad(*load); !status.ok()) {
      return status;
    }
  }
  into.set_offered_count(
      base::SaturatingAdd(into.offered_count(), from.offered_count()));
  into.set_unsent_count(
      base::SaturatingAdd(into.unsent_count(), from.unsent_count()));
  into.set_held_back_count(
      base::SaturatingAdd(into.held_back_count(), from.held_back_count()));
  if (from.has_unsent_wait_ns()) {
    MergeHistogram(from.unsent_wait_ns(), *into.mutable_unsent_wait_ns());
  }
  return absl::OkStatus();
}

}  // namespace distbench::results
