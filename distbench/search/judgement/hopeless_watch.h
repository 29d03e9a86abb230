// Knows from the live progress of a run that it can only miss, by far.

#ifndef DISTBENCH_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_
#define DISTBENCH_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/config/search/objective.h"
#include "distbench/search/knobs/probe_config.h"
#include "distbench/stats/log_histogram.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Watches upper limits of percentiles of the one RPC that open loops send, as
// progress does not tell RPCs apart; where there is none, nothing is hopeless.
//
// A run is hopeless once so many responses took more than three times the limit
// that the percentile of the whole run, of all that is due in it, must be above
// that: what the search would do with the whole result is the same.
class HopelessWatch {
 public:
  // `test`: as it runs.
  HopelessWatch(const DistributedSystemDescription& test,
                absl::Span<const Objective> objectives,
                const ProbeTiming& timing);

  // Progress of the run, `elapsed` after its traffic started. Returns whether
  // it is hopeless.
  bool Add(const TrafficProgress& progress, absl::Duration elapsed);

  // Which objective is out of reach and why, once it is hopeless.
  const std::string& evidence() const { return evidence_; }

  // What was heard of after the warm-up.
  const LogHistogram& response_time_ns() const { return response_time_ns_; }

 private:
  struct Limit {
    std::string text;
    double quantile;
    double limit_ns;
  };

  const ProbeTiming timing_;
  std::vector<Limit> limits_;
  LogHistogram response_time_ns_;
  std::string evidence_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_JUDGEMENT_HOPELESS_WATCH_H_
