// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/server_metrics.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/syntax/instance_names.h"

namespace distbench::server_metrics {
namespace {

// A unit of the language.
struct Unit {
  absl::string_view name;
  stats::MetricUnit unit;
  double scale;                 // from the entry's unit to that of results
  absl::string_view limits_as;  // an example of a limit
};
constexpr Unit kUnits[] = {
    {"number", stats::MetricUnit::kNumber, 1, "metric:NAME<=12.5"},
    {"share", stats::MetricUnit::kShare, 1, "metric:NAME<=70%"},
    {"percent", stats::MetricUnit::kShare, 0.01, "metric:NAME<=70%"},
    {"bytes", stats::MetricUnit::kBytes, 1, "metric:NAME<=2GiB"},
    {"seconds", stats::MetricUnit::kNs, 1e9, "metric:NAME<=20ms"},
    {"per_second", stats::MetricUnit::kPerSecond, 1, "metric:NAME<=1000"}};

// Configs of others may have any text.
const Unit& UnitOf(const ServerMetric& entry) {
  const auto* const found =
      std::find_if(std::begin(kUnits), std::end(kUnits),
                   [&](const Unit& unit) { return unit.name == entry.unit(); });
  return found == std::end(kUnits) ? kUnits[0] : *found;
}

// ---- How far queries look back ----------------------------------------------

struct TimeUnit {
  absl::string_view name;
  int64_t ns;
};
constexpr TimeUnit kTimeUnits[] = {{"ms", 1'000'000},
                                   {"s", 1'000'000'000},
                                   {"m", 60'000'000'000},
                                   {"h", 3'600'000'000'000},
                                   {"d", 86'400'000'000'000},
                                   {"w", 604'800'000'000'000},
                                   {"y", 31'536'000'000'000'000}};

// Takes a duration of PromQL, such as "1h30m"; 0 if there is none.
int64_t TakeDurationNs(base::TextScanner& scanner) {
  int64_t sum_ns = 0;
  while (const std::optional<int64_t> number = scanner.TakeWhole()) {
    const TimeUnit* const unit = scanner.TakeOneOf(kTimeUnits);
    if (unit == nullptr) break;
    sum_ns = base::SaturatingAdd(sum_ns,
                                 base::SaturatingMultiply(*number, unit->ns));
  }
  return sum_ns;
}

// Takes a character, if there is one.
void SkipOne(base::TextScanner& scanner) {
  if (!scanner.at_end()) scanner = base::TextScanner(scanner.rest().substr(1));
}

// Takes what no range is in: a text in quotes, or a comment.
bool SkipQuoted(base::TextScanner& scanner) {
  if (scanner.Take("#")) {
    scanner.TakeUntil("\n");
    return true;
  }
  for (const absl::string_view quote : {"\"", "'", "`"}) {
    if (!scanner.Take(quote)) continue;
    const std::string ends = absl::StrCat(quote, quote == "`" ? "" : "\\");
    while (!scanner.at_end()) {
      scanner.TakeUntil(ends);
      if (scanner.Take(quote)) break;
      // An escape hides the character that follows it.
      if (scanner.Take("\\")) SkipOne(scanner);
    }
    return true;
  }
  return false;
}

}  // namespace

stats::Metric MetricOf(const ServerMetric& entry) {
  return {.kind = stats::Metric::Kind::kServerMetric,
          .name = entry.name(),
          .unit = UnitOf(entry).unit};
}

double ScaleOf(const ServerMetric& entry) { return UnitOf(entry).scale; }

std::string DefinitionOf(const DistributedSystemDescription& test,
                         const ServerMetric& entry) {
  // Where the Prometheus is does not change what is asked, but a command is
  // about the host that runs it.
  const std::string source =
      entry.has_prometheus()
          ? absl::StrCat("the query \"", entry.prometheus().query(), "\"")
          : absl::StrCat("the command \"", entry.command(), "\" at ",
                         ReaderOf(test, entry));
  return base::PrintableLine(
      absl::StrCat(source, " (", UnitOf(entry).name, ")"));
}

std::string ReaderOf(const DistributedSystemDescription& test,
                     const ServerMetric& entry) {
  for (const ServiceSpec& service : test.services()) {
    const bool is_asked = entry.service().empty()
                              ? !config::IsOutside(service)
                              : service.name() == entry.service();
    if (is_asked) {
      return config::InstanceName(service.name(), config::GridOf(service), 0);
    }
  }
  return "";
}

int64_t QueryRangeNs(absl::string_view query) {
  base::TextScanner scanner(query);
  int64_t longest_ns = 0;
  int64_t added_ns = 0;
  while (!scanner.at_end()) {
    if (SkipQuoted(scanner)) continue;
    if (scanner.Take("[")) {
      const int64_t range_ns = TakeDurationNs(scanner);
      if (scanner.Take(":")) {
        added_ns = base::SaturatingAdd(added_ns, range_ns);
      } else {
        longest_ns = std::max(longest_ns, range_ns);
      }
    } else if (scanner.Take("offset ")) {
      added_ns = base::SaturatingAdd(added_ns, TakeDurationNs(scanner));
    } else {
      SkipOne(scanner);
    }
  }
  return base::SaturatingAdd(longest_ns, added_ns);
}

int64_t LookBackNs(const ServerMetric& entry) {
  return entry.has_look_back_ns() ? entry.look_back_ns()
                                  : QueryRangeNs(entry.prometheus().query());
}

std::string UnitProblem(const config::Objective& objective,
                        const ServerMetric& entry) {
  const Unit& unit = UnitOf(entry);
  const stats::MetricUnit asked = objective.metric.unit;
  const bool is_number_per_second = asked == stats::MetricUnit::kNumber &&
                                    unit.unit == stats::MetricUnit::kPerSecond;
  if (asked == unit.unit || is_number_per_second) return "";
  return absl::StrCat("limits a metric whose unit is \"", unit.name,
                      "\"; write it like \"", unit.limits_as,
                      "\", or correct the unit");
}

}  // namespace distbench::server_metrics
