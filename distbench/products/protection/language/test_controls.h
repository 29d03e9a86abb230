// The rules of a test's own `controls`.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TEST_CONTROLS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TEST_CONTROLS_H_

#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/test_validation.h"
#include "proto/traffic_config.pb.h"

namespace distbench::protection {

// Adds a problem for each rule that the test's controls break.
void ValidateControls(const config::TestValidation& validation);

// Adds warnings about the controls of a valid test, which is at `path`: more
// memory protected than a host has, weights that nothing may respect, bindings
// to CPUs that the group does not have.
void WarnOfControls(const DistributedSystemDescription& test,
                    const config::Path& path, config::Problems& warnings);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TEST_CONTROLS_H_
