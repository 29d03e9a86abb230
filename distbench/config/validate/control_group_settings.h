// Checks of the settings in sets of controls. Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_CONTROL_GROUP_SETTINGS_H_
#define DISTBENCH_CONFIG_VALIDATE_CONTROL_GROUP_SETTINGS_H_

#include "distbench/config/problems/problem.h"
#include "proto/experiment.pb.h"

namespace distbench::config {

// Adds a problem for each setting of the group, which is at `path`, that is out
// of range, is no amount, contradicts another, or names no device; and if there
// is no setting.
void CheckGroupSettings(const ControlGroup& group, const Path& path,
                        Problems& problems);

// Same, for `io_cost` of the set that is at `path`.
void CheckIoCost(const ControlSet& controls, const Path& path,
                 Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_CONTROL_GROUP_SETTINGS_H_
