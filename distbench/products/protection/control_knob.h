// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The knob of load searches that varies a setting of control groups: one that
// is a number.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_CONTROL_KNOB_H_
#define DISTBENCH_PRODUCTS_PROTECTION_CONTROL_KNOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/search/knobs/knob.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// A setting of one group of a set of controls of a test's experiment.
struct ControlSetting {
  int set = 0;       // index in experiment.controls
  int group = 0;     // index in the set's groups
  std::string name;  // of the field, "cpu_weight"

  double value = 0;
  double min_value = 1;
  double max_value = 1;
  bool is_whole = true;
  std::string unit;  // "cpu_weight", "bytes of memory_low"

  // Whether less of it protects the subject less: what a group of the subject
  // is given. The search is then for the lowest value. Of what restrains the
  // others, it is for the highest.
  bool protects_by_more = false;
};

// Finds the group of the set that has the setting. Requires a canonical test.
// INVALID_ARGUMENT if there is none, or more than one; if it is no number; or
// if it limits the subject itself, which protects nothing.
absl::StatusOr<ControlSetting> FindControlSetting(
    const DistributedSystemDescription& test, absl::string_view set,
    absl::string_view name);

// Changes the setting in a test that FindControlSetting() found it in. `value`
// is in its range, and whole if it must be.
void SetControl(const ControlSetting& setting, double value,
                DistributedSystemDescription& test);

// Varies a numeric setting in one set of controls of the test's experiment. The
// controls only matter in cells of the experiment, for which the test is the
// subject.
class ControlKnob final : public search::Knob {
 public:
  // `setting` was found in the test.
  ControlKnob(DistributedSystemDescription test, ControlSetting setting);

  absl::string_view unit() const override { return setting_.unit; }
  double base_load() const override { return setting_.value; }
  double min_load() const override { return setting_.min_value; }
  double max_load() const override { return setting_.max_value; }
  bool is_whole() const override { return setting_.is_whole; }
  bool finds_lowest() const override { return setting_.protects_by_more; }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const search::ProbeTiming& timing) const override;

 private:
  const DistributedSystemDescription test_;
  const ControlSetting setting_;
};

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_CONTROL_KNOB_H_
