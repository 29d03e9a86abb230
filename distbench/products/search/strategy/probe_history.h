// The probes of a search so far, and conclusions from them.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "distbench/products/search/strategy/crossing.h"
#include "distbench/products/search/strategy/probe.h"

namespace distbench::search {

class ProbeHistory {
 public:
  void Add(const Probe& probe) { probes_.push_back(probe); }

  const std::vector<Probe>& probes() const { return probes_; }

  // Ignores, from now on, misses at this load before the last probe.
  void OverruleMisses(double load);

  // The functions below ignore warm-ups and overruled probes.

  // The highest load that met, and the lowest that missed or could not be
  // generated, if any. Near the limit, noise may put the first above the
  // second.
  struct Bounds {
    std::optional<double> met;
    std::optional<double> missed;
    bool generator_is_bound = false;  // of `missed`
  };
  Bounds FindBounds() const;

  // The probe with the lowest load for which `is_miss` is true; null if there
  // is none.
  const Probe* LowestMiss(bool (*is_miss)(const Probe&)) const;

  // All final runs at this load as one, in which each counts by its length; the
  // generator limited it if it limited the last of them. Absent if there are
  // none.
  std::optional<Probe> FinalRunsAt(double load) const;

  // The length of all final runs together.
  double FinalLength() const;

  // The same probes, each with at least the error that it shares.
  ProbeHistory WithSharedErrors() const;

  // The highest load that clearly met; 0 if there is none.
  double HighestClearMeet() const;

  // The last refining probe within the tolerance of this load; null if there is
  // none.
  const Probe* LastRefined(double load, double tolerance) const;

  // Where the line through the measurements crosses the limit, in logarithms of
  // load and measurement.
  //
  // The errors of the measurements are shared: they come from all of those near
  // the limit together, because a probe that happens to see no burst
  // underestimates both its measurement and the error of that, and would pull
  // the line towards itself.
  std::optional<Crossing> FitLine() const;

 private:
  std::vector<const Probe*> Counted() const;

  std::vector<Probe> probes_;
  std::set<size_t> overruled_;  // indices of probes_
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_PROBE_HISTORY_H_
