#include "distbench/report/measurements/time_parts.h"

namespace distbench::report {

const stats::LogHistogram& TimesOf(const results::RpcTotals& totals,
                                   results::TimePart part) {
  static const stats::LogHistogram* const no_times = new stats::LogHistogram;
  const auto found = totals.time_parts_ns.find(part);
  return found == totals.time_parts_ns.end() ? *no_times : found->second;
}

std::vector<NamedTimes> TimePartsOf(const results::RpcTotals& totals) {
  if (TimesOf(totals, results::TimePart::kNetwork).count() == 0) return {};
  std::vector<NamedTimes> parts;
  if (totals.lateness_ns.count() > 0) {
    parts.push_back({"lateness", totals.lateness_ns});
  }
  for (const results::TimePart part :
       {results::TimePart::kNetwork, results::TimePart::kServerQueue,
        results::TimePart::kServerHandler}) {
    const stats::LogHistogram& times_ns = TimesOf(totals, part);
    if (times_ns.count() > 0)
      parts.push_back({results::NameOf(part), times_ns});
  }
  return parts;
}

}  // namespace distbench::report
