// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fills messages of reports by the names of their fields.

#ifndef DISTBENCH_REPORT_DERIVED_FIGURES_H_
#define DISTBENCH_REPORT_DERIVED_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/run_interval.h"
#include "google/protobuf/message.h"
#include "proto/report.pb.h"

namespace distbench::report {

// Returns a percentile of so many percent as reports show it, in all formats
// but the summary: Outcomes::kFailed if it falls among failures, nothing if
// there are too few values for it.
std::optional<int64_t> ShownPercentile(const stats::OutcomesView& outcomes,
                                       double percent);

// Sets the figures that `times`, such as Report::PairTimes, has fields for:
// "mean_ns", "p99_ns", "p999_ns" (99.9 %). `others` are values that the
// histogram lacks. Percentiles are absent if there are others, if there are too
// few values for them, and if they fall among the failures, of which
// failed_above_percent tells. Extremes and means cover all values, but not the
// failures, and are absent without any.
void SetTimes(const stats::OutcomesView& outcomes,
              google::protobuf::Message& times,
              const stats::RunningMoments& others = {});

// Sets the same from what is known of a latency.
void SetTimes(const Report::Latency& latency, google::protobuf::Message& times);

// Returns the percentage from which on percentiles fall among failures; nothing
// if nothing failed.
std::optional<double> FailedAbovePercent(uint64_t count, uint64_t failed_count);

// Sets the counts of a message that has them all, such as Report::Totals.
template <typename Counted>
void SetCounts(const results::RpcCounts& counts, Counted& counted) {
  counted.set_succeeded_count(counts.succeeded_count);
  counted.set_failed_count(counts.failed_count);
  counted.set_warmup_count(counts.warmup_count);
  counted.set_request_bytes(counts.request_bytes);
  counted.set_response_bytes(counts.response_bytes);
}

// Sets a field to a number, or the truth value beside it: infinity stands for
// what failed. Nothing of nothing.
void SetFigure(const std::optional<double>& figure, const char* number,
               const char* failed, google::protobuf::Message& message);

// Sets a number to the estimate, and those named PREFIXlower and PREFIXupper to
// its interval, as far as there are such.
void SetDifference(const std::optional<stats::Difference>& difference,
                   const std::string& number, const std::string& prefix,
                   google::protobuf::Message& message);

// Sets the fields of `to` that `from` has, too, under the same name (or that of
// the option `from`) and of the same type, but for the width of integers; where
// it may be absent, if it has a value. Messages in these are copied in the same
// way.
void CopyByName(const google::protobuf::Message& from,
                google::protobuf::Message& to);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_DERIVED_FIGURES_H_
