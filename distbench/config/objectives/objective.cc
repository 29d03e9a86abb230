#include "distbench/config/objectives/objective.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

constexpr char kCpu[] = "cpu";
constexpr char kGoodputPrefix[] = "isol_";
constexpr char kLatencyImpactPrefix[] = "lat_imp_";

struct NamedStreamTime {
  absl::string_view prefix;
  StreamTime::Kind kind;
};
constexpr NamedStreamTime kStreamTimes[] = {
    {"first_message_", StreamTime::Kind::kFirstMessage},
    {"gap_", StreamTime::Kind::kGap},
    {"round_trip_", StreamTime::Kind::kRoundTrip}};

struct NamedAttemptTime {
  absl::string_view prefix;
  AttemptTime::Kind kind;
};
constexpr NamedAttemptTime kAttemptTimes[] = {
    {"attempt_", AttemptTime::Kind::kAttempt},
    {"quorum_", AttemptTime::Kind::kQuorum}};

absl::Status SyntaxError(absl::string_view text, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("the objective \"", text, "\" ", problem,
                   "; write it like \"my_rpc p95<=500ms\", \"failures<=0.1%\", "
                   "\"cpu<=60%\" or \"isol_p05>=90%\""));
}

absl::StatusOr<double> ParseShare(absl::string_view text,
                                  absl::string_view limit) {
  double percent = 0;
  if (!absl::ConsumeSuffix(&limit, "%") || !absl::SimpleAtod(limit, &percent) ||
      percent <= 0) {
    return SyntaxError(text, "needs a limit in percent, above 0");
  }
  return percent / 100;
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
  double number = 0;
  if (!absl::SimpleAtod(limit, &number) || number <= 0 ||
      !std::isfinite(number)) {
    return SyntaxError(text,
                       absl::StrCat("needs ", what, " as its limit, above 0"));
  }
  return number;
}

bool IsIsolation(absl::string_view name) {
  return absl::StartsWith(name, kGoodputPrefix) ||
         absl::StartsWith(name, kLatencyImpactPrefix);
}

// Parses the part before the limit of an objective on isolation.
absl::StatusOr<Isolation> ParseIsolation(absl::string_view text,
                                         absl::string_view name) {
  Isolation isolation;
  if (!absl::ConsumePrefix(&name, kGoodputPrefix)) {
    absl::ConsumePrefix(&name, kLatencyImpactPrefix);
    isolation.kind = Isolation::Kind::kLatencyImpact;
  }
  if (name == "mean") return isolation;
  double percent = 0;
  if (!absl::ConsumePrefix(&name, "p") || !absl::SimpleAtod(name, &percent) ||
      !(percent > 0 && percent < 100)) {
    return SyntaxError(text,
                       "needs a percentile of the seconds, such as p05, or "
                       "mean");
  }
  isolation.percent = percent;
  return isolation;
}

bool IsStreamTime(absl::string_view name) {
  for (const NamedStreamTime& named : kStreamTimes) {
    if (absl::StartsWith(name, named.prefix)) return true;
  }
  return false;
}

// Parses the part before the limit of an objective on messages.
absl::StatusOr<StreamTime> ParseStreamTime(absl::string_view text,
                                           absl::string_view name) {
  for (const NamedStreamTime& named : kStreamTimes) {
    if (!absl::ConsumePrefix(&name, named.prefix)) continue;
    const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
    if (metric.ok() && metric->kind == stats::Metric::Kind::kPercentile) {
      return StreamTime{named.kind, metric->percent};
    }
  }
  return SyntaxError(text, "needs a percentile of the messages, such as p99");
}

// Parses the part before the limit of an objective on attempts; nothing if it
// is none.
absl::StatusOr<std::optional<AttemptTime>> ParseAttemptTime(
    absl::string_view text, absl::string_view name) {
  for (const NamedAttemptTime& named : kAttemptTimes) {
    if (!absl::ConsumePrefix(&name, named.prefix)) continue;
    const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
    if (metric.ok() && metric->kind == stats::Metric::Kind::kPercentile) {
      return AttemptTime{named.kind, metric->percent};
    }
    return SyntaxError(text, "needs a percentile of the times, such as p99");
  }
  return std::nullopt;
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

absl::StatusOr<double> ParseLimit(absl::string_view text,
                                  const stats::Metric& metric,
                                  absl::string_view limit) {
  switch (metric.kind) {
    case stats::Metric::Kind::kPercentile:
    case stats::Metric::Kind::kMean:
      return ParseLatency(text, limit);
    case stats::Metric::Kind::kRate:
    case stats::Metric::Kind::kGoodput:
      return ParseNumber(text, limit, "a rate per second");
    case stats::Metric::Kind::kAmplification:
      return ParseNumber(text, limit, "a number of attempts per request");
    case stats::Metric::Kind::kFailures:
    case stats::Metric::Kind::kWasted:
      return ParseShare(text, limit);
  }
  return SyntaxError(text, "has an unknown metric");
}

}  // namespace

std::string StreamTimeName(const StreamTime& time) {
  for (const NamedStreamTime& named : kStreamTimes) {
    if (named.kind != time.kind) continue;
    return absl::StrCat(
        named.prefix,
        stats::MetricName({stats::Metric::Kind::kPercentile, time.percent}));
  }
  return "";
}

std::string AttemptTimeName(const AttemptTime& time) {
  const bool is_quorum = time.kind == AttemptTime::Kind::kQuorum;
  return absl::StrCat(
      is_quorum ? "quorum_" : "attempt_",
      stats::MetricName({stats::Metric::Kind::kPercentile, time.percent}));
}

absl::StatusOr<Objective> ParseObjective(absl::string_view text) {
  const size_t comparison = text.find_first_of("<>");
  if (comparison == absl::string_view::npos) {
    return SyntaxError(text, "has neither <= nor >=");
  }
  absl::string_view limit = text.substr(comparison + 1);
  absl::ConsumePrefix(&limit, "=");
  limit = absl::StripAsciiWhitespace(limit);
  absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(0, comparison));

  Objective objective;
  objective.text = std::string(text);
  objective.is_upper_limit = text[comparison] == '<';
  if (const size_t blank = name.rfind(' '); blank != absl::string_view::npos) {
    objective.rpc =
        std::string(absl::StripAsciiWhitespace(name.substr(0, blank)));
    name = name.substr(blank + 1);
  }
  const absl::StatusOr<std::optional<AttemptTime>> attempt_time =
      ParseAttemptTime(text, name);
  if (!attempt_time.ok()) return attempt_time.status();
  absl::StatusOr<double> value;
  if (name == kCpu && objective.rpc.empty()) {
    objective.metric = HostCpu();
    value = ParseShare(text, limit);
  } else if (IsIsolation(name)) {
    const absl::StatusOr<Isolation> isolation = ParseIsolation(text, name);
    if (!isolation.ok()) return isolation.status();
    if (!objective.rpc.empty()) {
      return SyntaxError(text, "names an RPC; the experiment does that");
    }
    objective.metric = *isolation;
    value = ParseShare(text, limit);
  } else if (IsStreamTime(name)) {
    const absl::StatusOr<StreamTime> time = ParseStreamTime(text, name);
    if (!time.ok()) return time.status();
    objective.metric = *time;
    value = ParseLatency(text, limit);
  } else if (attempt_time->has_value()) {
    objective.metric = **attempt_time;
    value = ParseLatency(text, limit);
  } else {
    const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
    if (!metric.ok()) return SyntaxError(text, metric.status().message());
    objective.metric = *metric;
    value = ParseLimit(text, *metric, limit);
  }
  if (!value.ok()) return value.status();
  objective.limit = *value;
  if (const auto* isolation = std::get_if<Isolation>(&objective.metric)) {
    const absl::Status status = CheckIsolationLimit(objective, isolation->kind);
    if (!status.ok()) return status;
  }
  return objective;
}

}  // namespace distbench::config
