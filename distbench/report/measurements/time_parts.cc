#include "distbench/report/measurements/time_parts.h"

namespace distbench {

const LogHistogram& TimesOf(const RpcTotals& totals, TimePart part) {
  static const LogHistogram* const no_times = new LogHistogram;
  const auto found = totals.time_parts_ns.find(part);
  return found == totals.time_parts_ns.end() ? *no_times : found->second;
}

std::vector<NamedTimes> TimePartsOf(const RpcTotals& totals) {
  if (TimesOf(totals, TimePart::kNetwork).count() == 0) return {};
  std::vector<NamedTimes> parts;
  if (totals.lateness_ns.count() > 0) {
    parts.push_back({"lateness", totals.lateness_ns});
  }
  for (const TimePart part : {TimePart::kNetwork, TimePart::kServerQueue,
                              TimePart::kServerHandler}) {
    const LogHistogram& times_ns = TimesOf(totals, part);
    if (times_ns.count() > 0) parts.push_back({NameOf(part), times_ns});
  }
  return parts;
}

}  // namespace distbench
