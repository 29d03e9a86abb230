// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/stability.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "distbench/stats/run_interval.h"

namespace distbench::protection {
namespace {

// How many standard errors chance explains, and how many times the percentage
// an error may be.
constexpr double kErrors = 2;
constexpr double kMostNoise = 10;

struct Trends {
  Trend throughput;
  Trend latency;
};

bool HasSilence(absl::Span<const StabilityInterval> window) {
  return std::any_of(
      window.begin(), window.end(), [](const StabilityInterval& interval) {
        return !(interval.throughput > 0) || !interval.latency_ns.has_value();
      });
}

// Requires a window without silence.
Trends TrendsOf(absl::Span<const StabilityInterval> window,
                double interval_seconds) {
  std::vector<double> throughput;
  std::vector<double> latency;
  for (const StabilityInterval& interval : window) {
    throughput.push_back(interval.throughput);
    latency.push_back(*interval.latency_ns);
  }
  return {.throughput = TrendOf(throughput, interval_seconds),
          .latency = TrendOf(latency, interval_seconds)};
}

bool IsFlat(absl::Span<const StabilityInterval> window, double interval_seconds,
            const FlatnessRule& rule) {
  if (HasSilence(window)) return false;
  const Trends trends = TrendsOf(window, interval_seconds);
  return IsFlat(trends.throughput, rule) && IsFlat(trends.latency, rule);
}

std::string TrendText(const Trend& trend) {
  return absl::StrFormat("%+.2f ± %.2f %%", trend.percent_per_second,
                         trend.error);
}

// What the last window says.
std::string Describe(absl::Span<const StabilityInterval> window,
                     double interval_seconds, const FlatnessRule& rule) {
  const double seconds = interval_seconds * static_cast<double>(window.size());
  if (HasSilence(window)) {
    return absl::StrFormat(
        "the last %g s have seconds in which no request succeeded", seconds);
  }
  const Trends trends = TrendsOf(window, interval_seconds);
  std::string text = absl::StrFormat(
      "per second, throughput changed by %s and the median latency by %s over "
      "the last %g s",
      TrendText(trends.throughput), TrendText(trends.latency), seconds);
  const double error = std::max(trends.throughput.error, trends.latency.error);
  if (error > kMostNoise * rule.within_percent) {
    absl::StrAppend(&text,
                    "; they vary too much to tell, so lengthen flat_over or "
                    "raise flat_within_percent");
  }
  return text;
}

}  // namespace

Trend TrendOf(absl::Span<const double> values, double interval_seconds) {
  const double count = static_cast<double>(values.size());
  const double middle = (count - 1) / 2;
  const double mean = stats::Mean(values);
  double time_squares = 0;
  double products = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double time = static_cast<double>(i) - middle;
    time_squares += time * time;
    products += time * (values[i] - mean);
  }
  const double slope = products / time_squares;
  double residual_squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double time = static_cast<double>(i) - middle;
    const double residual = values[i] - mean - slope * time;
    residual_squares += residual * residual;
  }
  const double error = std::sqrt(residual_squares / (count - 2) / time_squares);
  const double to_percent = 100 / mean / interval_seconds;
  return {.percent_per_second = slope * to_percent,
          .error = error * to_percent};
}

bool IsFlat(const Trend& trend, const FlatnessRule& rule) {
  if (trend.error > kMostNoise * rule.within_percent) return false;
  return std::abs(trend.percent_per_second) - kErrors * trend.error <=
         rule.within_percent;
}

Stability JudgeStability(absl::Span<const StabilityInterval> record,
                         double interval_seconds, const FlatnessRule& rule) {
  Stability stability;
  if (record.size() < rule.intervals) {
    stability.description =
        absl::StrFormat("only %g s were recorded, and %g s are needed",
                        interval_seconds * static_cast<double>(record.size()),
                        interval_seconds * static_cast<double>(rule.intervals));
    return stability;
  }
  size_t start = record.size() - rule.intervals;
  stability.description =
      Describe(record.subspan(start), interval_seconds, rule);
  stability.is_stable = IsFlat(record.subspan(start), interval_seconds, rule);
  if (!stability.is_stable) return stability;
  while (start > 0 && IsFlat(record.subspan(start - 1, rule.intervals),
                             interval_seconds, rule)) {
    --start;
  }
  stability.since = start;
  return stability;
}

}  // namespace distbench::protection
