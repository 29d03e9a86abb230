#include "distbench/report/comparison/metric_values.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/quantile_interval.h"

namespace distbench::report {
namespace {

// The reason why a run has no value of a metric.
absl::Status TooFewRpcs() { return absl::NotFoundError("too few RPCs"); }

absl::Status TooManyFailed(const stats::Outcomes& outcomes) {
  return absl::NotFoundError(absl::StrFormat("%.3g%% of the RPCs failed",
                                             100 * outcomes.failed_share()));
}

absl::Status NoPolicy() {
  return absl::NotFoundError("the RPC has no policy, or sent no attempts");
}

bool HasPolicy(const RpcMeasurements& rpc) { return rpc.attempts.has_value(); }

// Whether the value can be compared by ratio.
bool IsPositive(double value) { return value > 0 && std::isfinite(value); }

absl::StatusOr<double> ValueOf(const stats::Metric& metric,
                               const RpcMeasurements& rpc,
                               const stats::Outcomes& outcomes) {
  switch (metric.kind) {
    case stats::Metric::Kind::kPercentile: {
      const double quantile = metric.percent / 100;
      if (!stats::SupportsQuantile(outcomes.count(), quantile))
        return TooFewRpcs();
      const int64_t value_ns = outcomes.ValueAtQuantile(quantile);
      if (value_ns == stats::Outcomes::kFailed) return TooManyFailed(outcomes);
      if (value_ns <= 0) return TooFewRpcs();
      return static_cast<double>(value_ns);
    }
    case stats::Metric::Kind::kMean:
      if (outcomes.failed_share() > stats::kAllowedFailures) {
        return TooManyFailed(outcomes);
      }
      if (!IsPositive(outcomes.latency_ns.mean())) return TooFewRpcs();
      return outcomes.latency_ns.mean();
    case stats::Metric::Kind::kRate: {
      const results::RpcCounts& counts = rpc.totals.counts;
      const double rate = PerSecond(static_cast<double>(counts.succeeded_count),
                                    counts.duration_ns());
      if (IsPositive(rate)) return rate;
      return outcomes.failed_count > 0 ? TooManyFailed(outcomes) : TooFewRpcs();
    }
    case stats::Metric::Kind::kFailures:
      if (outcomes.count() == 0) return TooFewRpcs();
      return outcomes.failed_share();
    case stats::Metric::Kind::kGoodput:
      if (IsPositive(rpc.goodput_per_second())) return rpc.goodput_per_second();
      return outcomes.failed_count > 0 ? TooManyFailed(outcomes) : TooFewRpcs();
    case stats::Metric::Kind::kAmplification:
    case stats::Metric::Kind::kWasted: {
      if (!HasPolicy(rpc)) return NoPolicy();
      const std::optional<double> value =
          metric.kind == stats::Metric::Kind::kAmplification
              ? Amplification(*rpc.attempts)
              : WastedShare(*rpc.attempts, rpc.totals.counts.succeeded_count);
      const bool is_usable =
          value && (IsPositive(*value) || !stats::IsComparedByRatio(metric));
      return is_usable ? absl::StatusOr<double>(*value) : NoPolicy();
    }
  }
  return TooFewRpcs();
}

}  // namespace

std::map<std::string, RpcRuns> RpcsOf(absl::Span<const TestRun> runs) {
  std::map<std::string, RpcRuns> rpcs;
  for (const TestRun& run : runs) {
    // Series are not compared.
    ForEachRpc(
        *run.result, /*max_intervals=*/1,
        [&](const RpcMeasurements& rpc) { rpcs[rpc.name].push_back(rpc); });
  }
  return rpcs;
}

const stats::Outcomes& ServiceTime(const RpcMeasurements& rpc) {
  return rpc.service_time;
}

const stats::Outcomes& ResponseTime(const RpcMeasurements& rpc) {
  return rpc.response_time;
}

bool HaveResponseTimes(const RpcRuns& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const RpcMeasurements& rpc) {
    return rpc.response_time.count() > 0;
  });
}

absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const stats::Metric& metric,
                                             const RpcRuns& runs,
                                             OutcomesOf outcomes_of) {
  std::vector<double> values;
  for (const RpcMeasurements& rpc : runs) {
    const absl::StatusOr<double> value = ValueOf(metric, rpc, outcomes_of(rpc));
    if (!value.ok()) {
      return absl::NotFoundError(
          absl::StrCat(value.status().message(), " in run ", values.size() + 1,
                       " of ", runs.size(), " of ", group));
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<stats::Metric> MetricsOf(const std::vector<stats::Metric>& metrics,
                                     absl::Span<const RpcRuns* const> groups) {
  std::vector<stats::Metric> all = metrics;
  for (const RpcRuns* runs : groups) {
    if (!std::all_of(runs->begin(), runs->end(), HasPolicy)) return all;
  }
  for (const stats::Metric& metric : stats::PolicyMetrics()) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) {
      all.push_back(metric);
    }
  }
  return all;
}

uint64_t CountRpcs(const RpcRuns& runs, OutcomesOf outcomes_of) {
  uint64_t count = 0;
  for (const RpcMeasurements& rpc : runs) count += outcomes_of(rpc).count();
  return count;
}

}  // namespace distbench::report
