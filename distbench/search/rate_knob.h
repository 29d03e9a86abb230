// Turns the load of a test up and down: a factor on all its open-loop rates.

#ifndef DISTBENCH_SEARCH_RATE_KNOB_H_
#define DISTBENCH_SEARCH_RATE_KNOB_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// A load is the number of iterations per second that the open loops of all
// instances' main lists start together.
class RateKnob {
 public:
  // `test`: canonical. INVALID_ARGUMENT if no main list has an open loop.
  static absl::StatusOr<RateKnob> Make(DistributedSystemDescription test);

  // Of the test as it is.
  double base_load() const { return base_load_; }

  struct Setting {
    double load = 0;
    absl::Duration warmup;
    absl::Duration measured;
  };

  // The test at that load; its open loops warm up and then run for the measured
  // time. Intervals are whole nanoseconds.
  DistributedSystemDescription At(const Setting& setting) const;

 private:
  RateKnob(DistributedSystemDescription test, double base_load);

  DistributedSystemDescription test_;
  double base_load_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_RATE_KNOB_H_
