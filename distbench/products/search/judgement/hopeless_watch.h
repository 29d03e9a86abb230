// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Detects from a run's live progress that it can only miss by far.

#ifndef DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_
#define DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/results/recent_traffic.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Watches upper limits on percentiles of the only RPC that open loops send,
// because progress does not distinguish RPCs. If there is more than one such
// RPC, no run is hopeless.
//
// A run is hopeless once so many responses exceed three times the limit that
// the percentile over all responses due in the run must exceed it too, however
// many these are: of bursty arrivals, the first seconds say little about how
// many are still to come. As many service times must exceed the limit, or the
// generator was late, which is no miss. The search would treat the complete
// result in the same way. No run whose rate is meant to change is hopeless, and
// none with more than a thousand instances, whose nodes may report too rarely.
class HopelessWatch {
 public:
  // `test` is the test that runs, or one of `copies` that run side by side.
  HopelessWatch(const DistributedSystemDescription& test,
                absl::Span<const config::Objective> objectives,
                const ProbeTiming& timing, int copies = 1);

  // Adds progress, reported `elapsed` after the start of the traffic. Returns
  // whether the run is hopeless.
  bool Add(const TrafficProgress& progress, absl::Duration elapsed);

  // The objective that is out of reach, and why, once the run is hopeless.
  const std::string& evidence() const { return evidence_; }

  // The response times reported since the warm-up.
  const stats::LogHistogram& response_time_ns() const {
    return recent_.times().response_ns;
  }

 private:
  struct Limit {
    std::string text;
    double quantile;
    double limit_ns;
  };

  double MostDue(const TrafficProgress& progress, absl::Duration elapsed) const;

  const ProbeTiming timing_;
  double dispersion_ = 1;  // of the number of RPCs
  std::vector<Limit> limits_;
  results::RecentTraffic recent_;  // of all RPCs
  std::string evidence_;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_
