#include "distbench/config/objectives/objective.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

constexpr char kCpu[] = "cpu";

// What the names of other metrics begin with.
struct NamedIsolation {
  absl::string_view name;
  Isolation::Kind kind;
};
constexpr NamedIsolation kIsolations[] = {
    {"isol_", Isolation::Kind::kGoodput},
    {"lat_imp_", Isolation::Kind::kLatencyImpact}};

struct NamedTime {
  absl::string_view name;
  PartTime::Kind kind;
};
constexpr NamedTime kTimes[] = {
    {"first_message_", PartTime::Kind::kFirstMessage},
    {"gap_", PartTime::Kind::kGap},
    {"round_trip_", PartTime::Kind::kRoundTrip},
    {"attempt_", PartTime::Kind::kAttempt},
    {"quorum_", PartTime::Kind::kQuorum}};

// What an objective is about.
using AnyMetric = decltype(Objective::metric);

absl::Status SyntaxError(absl::string_view text, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("the objective \"", text, "\" ", problem,
                   "; write it like \"my_rpc p95<=500ms\", \"failures<=0.1%\", "
                   "\"cpu<=60%\" or \"isol_p05>=90%\""));
}

absl::StatusOr<double> ParseShare(absl::string_view text,
                                  absl::string_view limit) {
  const std::optional<double> percent = base::ParsePercent(limit);
  if (!percent || *percent <= 0) {
    return SyntaxError(text, "needs a limit in percent, above 0");
  }
  return *percent / 100;
}

absl::StatusOr<double> ParseLatency(absl::string_view text,
                                    absl::string_view limit) {
  const absl::StatusOr<absl::Duration> duration = ParseDurationWithUnit(limit);
  if (!duration.ok() || *duration <= absl::ZeroDuration()) {
    return SyntaxError(text, "needs a duration as its limit, above 0");
  }
  return absl::ToDoubleNanoseconds(*duration);
}

absl::StatusOr<double> ParseNumber(absl::string_view text,
                                   absl::string_view limit,
                                   absl::string_view what) {
  const std::optional<double> number = base::ParseNumber(limit);
  if (!number || *number <= 0) {
    return SyntaxError(text,
                       absl::StrCat("needs ", what, " as its limit, above 0"));
  }
  return *number;
}

// The rest of a name: "mean", or a percentile such as "p99". Nothing if it is
// neither.
std::optional<stats::Metric> ParseMeanOrPercentile(absl::string_view name) {
  const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
  if (!metric.ok() || (metric->kind != stats::Metric::Kind::kMean &&
                       metric->kind != stats::Metric::Kind::kPercentile)) {
    return std::nullopt;
  }
  return *metric;
}

absl::StatusOr<AnyMetric> ParseIsolation(absl::string_view text,
                                         Isolation::Kind kind,
                                         absl::string_view rest) {
  const std::optional<stats::Metric> metric = ParseMeanOrPercentile(rest);
  if (!metric.has_value()) {
    return SyntaxError(text,
                       "needs a percentile of the seconds, such as p05, or "
                       "mean");
  }
  Isolation isolation = {.kind = kind};
  if (metric->kind == stats::Metric::Kind::kPercentile) {
    isolation.percent = metric->percent;
  }
  return isolation;
}

absl::StatusOr<AnyMetric> ParsePartTime(absl::string_view text,
                                        PartTime::Kind kind,
                                        absl::string_view rest) {
  PartTime time = {.kind = kind};
  const std::optional<stats::Metric> metric = ParseMeanOrPercentile(rest);
  if (!metric.has_value() || metric->kind == stats::Metric::Kind::kMean) {
    return SyntaxError(text, time.IsOfStream()
                                 ? "needs a percentile of the messages, such "
                                   "as p99"
                                 : "needs a percentile of the times, such as "
                                   "p99");
  }
  time.percent = metric->percent;
  return time;
}

// Parses the part before the limit, without the RPC.
absl::StatusOr<AnyMetric> ParseAnyMetric(absl::string_view text,
                                         absl::string_view rpc,
                                         absl::string_view name) {
  if (name == kCpu && rpc.empty()) return HostCpu();
  base::TextScanner in(name);
  if (const NamedIsolation* const named = in.TakeOneOf(kIsolations)) {
    if (!rpc.empty()) {
      return SyntaxError(text, "names an RPC; the experiment does that");
    }
    return ParseIsolation(text, named->kind, in.rest());
  }
  if (const NamedTime* const named = in.TakeOneOf(kTimes)) {
    return ParsePartTime(text, named->kind, in.rest());
  }
  const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
  if (!metric.ok()) return SyntaxError(text, metric.status().message());
  return *metric;
}

// Less than all of the goodput, or more than none of the impact, is what a
// subject may be asked to keep.
absl::Status CheckIsolationLimit(const Objective& objective,
                                 Isolation::Kind kind) {
  const bool is_goodput = kind == Isolation::Kind::kGoodput;
  if (is_goodput == objective.is_upper_limit) {
    return SyntaxError(objective.text,
                       is_goodput ? "needs >=: goodput is to be kept"
                                  : "needs <=: latencies are not to grow");
  }
  if (is_goodput && objective.limit > 1) {
    return SyntaxError(objective.text, "asks for more than 100%");
  }
  return absl::OkStatus();
}

absl::StatusOr<double> ParseLimit(const Objective& objective,
                                  absl::string_view limit) {
  switch (UnitOf(objective)) {
    case stats::MetricUnit::kNs:
      return ParseLatency(objective.text, limit);
    case stats::MetricUnit::kPerSecond:
      return ParseNumber(objective.text, limit, "a rate per second");
    case stats::MetricUnit::kRatio:
      return ParseNumber(objective.text, limit,
                         "a number of attempts per request");
    case stats::MetricUnit::kShare:
      return ParseShare(objective.text, limit);
  }
  return SyntaxError(objective.text, "has an unknown metric");
}

}  // namespace

std::string PartTimeName(const PartTime& time) {
  for (const NamedTime& named : kTimes) {
    if (named.kind != time.kind) continue;
    return absl::StrCat(
        named.name,
        stats::MetricName({stats::Metric::Kind::kPercentile, time.percent}));
  }
  return "";
}

stats::MetricUnit UnitOf(const Objective& objective) {
  if (std::holds_alternative<PartTime>(objective.metric)) {
    return stats::MetricUnit::kNs;
  }
  const auto* const metric = std::get_if<stats::Metric>(&objective.metric);
  return metric == nullptr ? stats::MetricUnit::kShare : stats::UnitOf(*metric);
}

absl::StatusOr<Objective> ParseObjective(absl::string_view text) {
  const std::optional<base::Comparison> comparison =
      base::ParseComparison(text);
  if (!comparison) return SyntaxError(text, "has neither <= nor >=");
  absl::string_view limit = comparison->limit;
  if (absl::ConsumePrefix(&limit, "=")) {
    limit = absl::StripLeadingAsciiWhitespace(limit);
  }
  const auto [rpc, name] = base::SplitOwner(comparison->name, ' ');
  absl::StatusOr<AnyMetric> metric = ParseAnyMetric(text, rpc, name);
  if (!metric.ok()) return metric.status();

  Objective objective;
  objective.text = std::string(text);
  objective.rpc = std::string(rpc);
  objective.metric = *std::move(metric);
  objective.is_upper_limit = comparison->sign == '<';
  const absl::StatusOr<double> value = ParseLimit(objective, limit);
  if (!value.ok()) return value.status();
  objective.limit = *value;
  if (const auto* isolation = std::get_if<Isolation>(&objective.metric)) {
    const absl::Status status = CheckIsolationLimit(objective, isolation->kind);
    if (!status.ok()) return status;
  }
  return objective;
}

}  // namespace distbench::config
