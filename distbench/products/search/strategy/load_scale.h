// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The loads that a search may ask for, by how hard they are to carry.
//
// A search computes with hardness. It is the load itself, or its reciprocal if
// the lowest load that meets is wanted: a service that is given less has it
// harder. The ratio of two loads is that of their hardness either way.

#ifndef DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SCALE_H_
#define DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SCALE_H_

#include "distbench/products/search/strategy/probe_history.h"

namespace distbench::search {

class LoadScale {
 public:
  // The bounds are positive loads. If loads are whole numbers, there must be
  // one between the bounds.
  LoadScale(double min_load, double max_load, bool is_whole, bool finds_lowest);

  bool is_whole() const { return is_whole_; }
  bool finds_lowest() const { return finds_lowest_; }

  // Of the loads that may be asked for.
  double easiest() const { return easiest_; }
  double hardest() const { return hardest_; }

  double HardnessOf(double load) const;

  // The inverse; exact for whole numbers.
  double LoadOf(double hardness) const;

  // The same probe, with hardness instead of loads, and back. What was achieved
  // keeps its share of what was asked for.
  Probe ToHardness(const Probe& probe) const;
  Probe ToLoads(const Probe& probe) const;
  LoadInterval ToLoads(const LoadInterval& interval) const;

  // The nearest hardness that may be asked for.
  double Allowed(double hardness) const;

  // The hardest load that is not harder, and the easiest that is not easier. If
  // loads are not whole numbers, `hardness` itself.
  double NotHarder(double hardness) const;
  double NotEasier(double hardness) const;

  // The whole number next to a whole number, on the easier side.
  double NextEasier(double hardness) const;

  // Whether loads are whole numbers, and none is between these two.
  bool AreNeighbours(double hardness, double other) const;

 private:
  const bool is_whole_;
  const bool finds_lowest_;
  double easiest_;
  double hardest_;
};

// The interval as an answer, both in hardness: it includes the answer, and if
// loads are whole numbers, so are its bounds.
LoadInterval AroundAnswer(const LoadInterval& interval, double answer,
                          const LoadScale& scale);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_STRATEGY_LOAD_SCALE_H_
