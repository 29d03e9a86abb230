// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/objectives/objective.h"

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

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

// Reads the limit of a server metric by the unit that it has, which it sets.
absl::StatusOr<double> ParseAnyLimit(absl::string_view text,
                                     absl::string_view limit,
                                     stats::MetricUnit& unit) {
  if (absl::EndsWith(limit, "%")) {
    unit = stats::MetricUnit::kShare;
    return ParseShare(text, limit);
  }
  if (base::ParseNumber(limit)) {
    unit = stats::MetricUnit::kNumber;
    return ParseNumber(text, limit, "a number");
  }
  if (const absl::StatusOr<int64_t> bytes = ParseSizeWithUnit(limit);
      bytes.ok() && *bytes > 0) {
    unit = stats::MetricUnit::kBytes;
    return static_cast<double>(*bytes);
  }
  const absl::StatusOr<double> duration = ParseLatency(text, limit);
  if (!duration.ok()) {
    return SyntaxError(text,
                       "needs a number, a percentage, a duration or a size as "
                       "its limit, above 0");
  }
  unit = stats::MetricUnit::kNs;
  return duration;
}

// Less than all of the goodput, or more than none of the impact, is what a
// subject may be asked to keep.
absl::Status CheckIsolationLimit(const Objective& objective) {
  const bool is_goodput =
      objective.metric.kind == stats::Metric::Kind::kIsolation;
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

absl::StatusOr<double> ParseLimit(absl::string_view limit,
                                  Objective& objective) {
  if (objective.metric.kind == stats::Metric::Kind::kServerMetric) {
    return ParseAnyLimit(objective.text, limit, objective.metric.unit);
  }
  switch (stats::UnitOf(objective.metric)) {
    case stats::MetricUnit::kNs:
      return ParseLatency(objective.text, limit);
    case stats::MetricUnit::kPerSecond:
      return ParseNumber(objective.text, limit, "a rate per second");
    case stats::MetricUnit::kRatio:
      return ParseNumber(objective.text, limit,
                         "a number of attempts per request");
    case stats::MetricUnit::kShare:
      return ParseShare(objective.text, limit);
    case stats::MetricUnit::kNumber:
    case stats::MetricUnit::kBytes:
      break;  // of server metrics only
  }
  return SyntaxError(objective.text, "has an unknown metric");
}

}  // namespace

absl::StatusOr<Objective> ParseObjective(absl::string_view text) {
  const std::optional<base::Comparison> comparison =
      base::ParseComparison(text);
  if (!comparison) return SyntaxError(text, "has neither <= nor >=");
  absl::string_view limit = comparison->limit;
  if (absl::ConsumePrefix(&limit, "=")) {
    limit = absl::StripLeadingAsciiWhitespace(limit);
  }
  const auto [rpc, name] = base::SplitOwner(comparison->name, ' ');
  const absl::StatusOr<stats::Metric> metric = stats::ParseMetric(name);
  if (!metric.ok()) {
    return SyntaxError(
        text, absl::StrCat("has no metric: ", metric.status().message()));
  }
  if (!rpc.empty() && !stats::IsOfRpc(*metric)) {
    return SyntaxError(text, absl::StrCat("names an RPC, of which ", name,
                                          " is not measured"));
  }

  Objective objective;
  objective.text = std::string(text);
  objective.rpc = std::string(rpc);
  objective.metric = *metric;
  objective.is_upper_limit = comparison->sign == '<';
  const absl::StatusOr<double> value = ParseLimit(limit, objective);
  if (!value.ok()) return value.status();
  objective.limit = *value;
  if (stats::IsIsolation(objective.metric)) {
    const absl::Status status = CheckIsolationLimit(objective);
    if (!status.ok()) return status;
  }
  return objective;
}

}  // namespace distbench::config
