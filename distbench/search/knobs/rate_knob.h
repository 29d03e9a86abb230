// A knob that scales all open-loop rates of a test by a common factor.

#ifndef DISTBENCH_SEARCH_KNOBS_RATE_KNOB_H_
#define DISTBENCH_SEARCH_KNOBS_RATE_KNOB_H_

#include "absl/status/statusor.h"
#include "distbench/search/knobs/knob.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The load is the number of iterations per second that the open loops of all
// instances' main lists start in total.
class RateKnob final : public Knob {
 public:
  // `test` must be canonical. INVALID_ARGUMENT if no main list has an open
  // loop.
  static absl::StatusOr<RateKnob> Make(DistributedSystemDescription test);

  absl::string_view unit() const override { return "iterations per second"; }
  double base_load() const override { return base_load_; }
  double min_load() const override { return 0.001; }
  double max_load() const override { return 1e9; }
  bool is_whole() const override { return false; }
  bool is_rate() const override { return true; }

  // Intervals are rounded to whole nanoseconds.
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  RateKnob(DistributedSystemDescription test, double base_load);

  DistributedSystemDescription test_;
  double base_load_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_KNOBS_RATE_KNOB_H_
