// A knob that varies a setting of control groups.

#ifndef DISTBENCH_PRODUCTS_SEARCH_KNOBS_CONTROL_KNOB_H_
#define DISTBENCH_PRODUCTS_SEARCH_KNOBS_CONTROL_KNOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/search/knobs/control_setting.h"
#include "distbench/products/search/knobs/knob.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

// Varies a numeric setting in one set of controls of the test's experiment. The
// controls only matter in cells of the experiment, for which the test is the
// subject.
class ControlKnob final : public Knob {
 public:
  // Requires that CheckKnob() succeeds.
  ControlKnob(DistributedSystemDescription test, ControlSetting setting);

  absl::string_view unit() const override { return setting_.unit; }
  double base_load() const override { return setting_.value; }
  double min_load() const override { return setting_.min_value; }
  double max_load() const override { return setting_.max_value; }
  bool is_whole() const override { return setting_.is_whole; }
  bool finds_lowest() const override { return setting_.protects_by_more; }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  const DistributedSystemDescription test_;
  const ControlSetting setting_;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_KNOBS_CONTROL_KNOB_H_
