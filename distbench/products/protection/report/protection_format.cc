#include "distbench/products/protection/report/protection_format.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench::protection {
namespace {

constexpr int kLabelWidth = 11;
constexpr int kColumnWidth = 6;

struct Unit {
  double size;
  char name;
};
constexpr Unit kUnits[] = {{1, 'n'}, {1e3, 'u'}, {1e6, 'm'}, {1e9, 's'}};

std::string Column(absl::string_view text) {
  return absl::StrFormat("%*s", kColumnWidth, text);
}

std::string OptionalShare(const std::optional<double>& share) {
  return share ? FormatShare(*share) : "-";
}

std::string FormatNested(absl::string_view name,
                         const stats::ValueDistribution& latencies) {
  return absl::StrCat(name, "=", FormatLatency(latencies.mean().value_or(0)),
                      ":", FormatLatency(latencies.deviation().value_or(0)),
                      "/", FormatLatency(latencies.AtQuantile(1)));
}

}  // namespace

// Each limit is the number that rounds to one more digit.
std::string FormatShare(double share) {
  if (std::isinf(share)) return "fail";
  const double percent = 100 * share;
  if (percent == 0) return "0";
  if (percent < 99.995) return absl::StrFormat("%.2f", percent);
  if (percent < 999.95) return absl::StrFormat("%.1f", percent);
  if (percent < 99999.5) return absl::StrFormat("%.0f", percent);
  return absl::StrFormat("%.0e", percent);
}

std::string FormatLatency(double ns) {
  if (ns == 0) return "0";
  const Unit* unit = std::begin(kUnits);
  while (unit + 1 != std::end(kUnits) && ns >= 999.5 * unit->size) ++unit;
  const double number = ns / unit->size;
  return number < 99.95 ? absl::StrFormat("%.1f%c", number, unit->name)
                        : absl::StrFormat("%.0f%c", number, unit->name);
}

std::string DistributionHeader() {
  std::string line(kLabelWidth, ' ');
  for (const stats::DistributionColumn& column : stats::kDistributionColumns) {
    absl::StrAppend(&line, Column(column.name));
  }
  return absl::StrCat(line, Column("mean"), Column("stdev"));
}

std::string FormatDistribution(absl::string_view label,
                               const stats::ValueDistribution& distribution) {
  std::string line = absl::StrFormat("%-*s", kLabelWidth, label);
  if (distribution.count() == 0) return absl::StrCat(line, " not measured");
  for (const stats::DistributionColumn& column : stats::kDistributionColumns) {
    absl::StrAppend(
        &line, Column(FormatShare(distribution.AtQuantile(column.quantile))));
  }
  return absl::StrCat(line, Column(OptionalShare(distribution.mean())),
                      Column(OptionalShare(distribution.deviation())));
}

std::string FormatNestedLatencies(const NestedLatencies& latencies) {
  if (latencies.p50.count() == 0) return "";
  return absl::StrCat(FormatNested("p50", latencies.p50), " ",
                      FormatNested("p90", latencies.p90), " ",
                      FormatNested("p99", latencies.p99), " ",
                      FormatNested("max", latencies.max));
}

}  // namespace distbench::protection
