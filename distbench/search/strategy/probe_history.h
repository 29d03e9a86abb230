// The probes of a search so far, and what they say together.

#ifndef DISTBENCH_SEARCH_STRATEGY_PROBE_HISTORY_H_
#define DISTBENCH_SEARCH_STRATEGY_PROBE_HISTORY_H_

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "distbench/search/strategy/crossing.h"
#include "distbench/search/strategy/probe.h"

namespace distbench {

class ProbeHistory {
 public:
  void Add(const Probe& probe) { probes_.push_back(probe); }

  const std::vector<Probe>& probes() const { return probes_; }

  // Leaves out, from here on, what missed at this load before the last probe.
  void OverruleMisses(double load);

  // What follows is of the probes that count: not of warm-ups, nor of those
  // that were overruled.

  // Highest load that met and lowest that missed, or could not be generated, if
  // any. Near the limit noise may put the first above the second.
  struct Bounds {
    std::optional<double> met;
    std::optional<double> missed;
    bool generator_is_bound = false;  // of missed
  };
  Bounds FindBounds() const;

  // The one at the lowest load of those that `is_miss` says are; null if there
  // is none.
  const Probe* LowestMiss(bool (*is_miss)(const Probe&)) const;

  // The highest load that clearly met; 0 if there is none.
  double HighestClearMeet() const;

  // The last one that refined at this load, give or take the tolerance; null if
  // there is none.
  const Probe* LastRefined(double load, double tolerance) const;

  // Where the line through the measurements, in logarithms of load and
  // measurement, crosses the limit.
  std::optional<Crossing> FitLine() const;

 private:
  std::vector<const Probe*> Counted() const;

  std::vector<Probe> probes_;
  std::set<size_t> overruled_;  // indices of probes_
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_STRATEGY_PROBE_HISTORY_H_
