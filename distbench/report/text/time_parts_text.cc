#include "distbench/report/text/time_parts_text.h"

#include "absl/strings/str_format.h"
#include "distbench/report/measurements/time_parts.h"

namespace distbench::report {

std::vector<std::string> TimePartLines(const TestTotals& totals) {
  std::vector<std::string> lines;
  for (const auto& [name, rpc] : totals.rpcs) {
    for (const NamedTimes& part : TimePartsOf(rpc)) {
      const stats::LogHistogram& times_ns = part.times_ns;
      lines.push_back(absl::StrFormat(
          "  %s: %s: N: %d mean: %.0fns median: %dns 90%%: %dns 99%%: %dns "
          "max: %dns",
          name, part.name, times_ns.count(), times_ns.mean(),
          times_ns.ValueAtQuantile(0.5), times_ns.ValueAtQuantile(0.9),
          times_ns.ValueAtQuantile(0.99), times_ns.max()));
    }
  }
  return lines;
}

}  // namespace distbench::report
