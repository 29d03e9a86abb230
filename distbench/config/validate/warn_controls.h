// Warnings about controls. Private to validation.

#ifndef DISTBENCH_CONFIG_VALIDATE_WARN_CONTROLS_H_
#define DISTBENCH_CONFIG_VALIDATE_WARN_CONTROLS_H_

#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Adds warnings about the controls of a valid test, which is at `path`: more
// memory protected than a host has, weights that nothing may respect, bindings
// to CPUs that the group does not have.
void WarnOfControls(const DistributedSystemDescription& test, const Path& path,
                    Problems& warnings);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_WARN_CONTROLS_H_
