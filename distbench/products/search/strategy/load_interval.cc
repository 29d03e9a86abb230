#include "distbench/products/search/strategy/load_interval.h"

#include <algorithm>
#include <cmath>

#include "distbench/products/search/strategy/crossing.h"
#include "distbench/products/search/strategy/probe.h"

namespace distbench::search {
namespace {

LoadInterval IntervalOfLine(const ProbeHistory& history) {
  const std::optional<Crossing> crossing = history.FitLine();
  if (!crossing) return {};
  return {.min = std::exp(crossing->x - crossing->half_width),
          .max = std::exp(crossing->x + crossing->half_width)};
}

}  // namespace

LoadInterval FindInterval(const ProbeHistory& history) {
  LoadInterval interval = IntervalOfLine(history);
  if (history.LowestMiss(&Missed) == nullptr) interval.max.reset();
  const ProbeHistory cautious = history.WithSharedErrors();
  const double met = cautious.HighestClearMeet();  // 0 if there is none
  if (met > 0) interval.min = std::max(interval.min.value_or(met), met);
  if (const Probe* miss = cautious.LowestMiss(&ClearlyMissed)) {
    const double missed = miss->request.load;
    interval.max = std::min(interval.max.value_or(missed), missed);
  }
  return interval;
}

bool IsProven(const LoadInterval& interval, double load) {
  return interval.min && *interval.min >= load;
}

}  // namespace distbench::search
