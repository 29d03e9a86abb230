// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/kept_measurements.h"

#include <algorithm>
#include <utility>

#include "distbench/results/time_series.h"
#include "distbench/stats/packed_histogram.h"

namespace distbench::hosting {

void KeptMeasurements::Add(const stats::SeriesByRpc& recent) {
  for (const auto& [number, measured] : recent) {
    const int rpc = number;  // clang before 16 captures no structured binding
    const auto [found, is_new] = series_.try_emplace(rpc, width_);
    stats::IntervalSeries& series = found->second;
    if (is_new) all_series_.push_back(&series);
    stats::IntervalSeries::ForEach(
        {&measured}, [&](const stats::IntervalSeries::View& view) {
          series.Add(
              view.index,
              {.counts = view.counts,
               .service_time_ns = stats::PackedHistogram(view.service_time_ns),
               .response_time_ns =
                   stats::PackedHistogram(view.response_time_ns)});
          Count(rpc, view);
        });
  }
  width_ =
      stats::IntervalSeries::KeepWithin(memory_bytes_, width_, all_series_);
}

void KeptMeasurements::Count(int rpc,
                             const stats::IntervalSeries::View& second) {
  const int64_t start_ns = second.index * stats::kSeriesStepNs;
  const int64_t end_ns = start_ns + stats::kSeriesStepNs;
  end_timestamp_ns_ = std::max(end_timestamp_ns_, end_ns);
  results::RpcTotals& totals = totals_[rpc];
  if (second.counts.warmup > 0) {
    totals.counts.warmup_count += second.counts.warmup;
    return;
  }
  results::RpcCounts counts;
  counts.succeeded_count = second.counts.succeeded;
  counts.failed_count = second.counts.failed;
  counts.request_bytes = second.counts.request_bytes;
  counts.response_bytes = second.counts.response_bytes;
  if (counts.succeeded_count > 0 || counts.failed_count > 0) {
    counts.first_start_timestamp_ns = start_ns;
    counts.last_end_timestamp_ns = end_ns;
  }
  totals.counts.Add(counts);
  totals.service_time_ns.Merge(second.service_time_ns);
  totals.response_time_ns.Merge(second.response_time_ns);
}

void KeptMeasurements::Emit(
    absl::string_view instance,
    absl::FunctionRef<void(ResultChunk chunk)> emit) const {
  const auto new_chunk = [&] {
    ResultChunk chunk;
    chunk.set_instance(std::string(instance));
    return chunk;
  };
  for (const auto& [number, series] : series_) {
    const int rpc = number;
    results::EncodeTimeSeries({&series}, [&](RpcTimeSeries piece) {
      ResultChunk chunk = new_chunk();
      (*chunk.mutable_instance_log()->mutable_rpc_time_series())[rpc] =
          std::move(piece);
      emit(std::move(chunk));
    });
    ResultChunk chunk = new_chunk();
    totals_.at(rpc).Encode(
        (*chunk.mutable_instance_log()->mutable_pooled_statistics())[rpc]);
    emit(std::move(chunk));
  }
}

}  // namespace distbench::hosting
