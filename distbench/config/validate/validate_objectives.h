#ifndef DISTBENCH_CONFIG_VALIDATE_VALIDATE_OBJECTIVES_H_
#define DISTBENCH_CONFIG_VALIDATE_VALIDATE_OBJECTIVES_H_

#include <string>

#include "distbench/config/problems/problem.h"
#include "distbench/config/validate/test_validation.h"

namespace distbench::config {

// Adds a problem at `path` if `text` is no objective that the test can be
// judged by. `is_of_search`: rather than of all runs of the test.
void CheckObjective(const TestValidation& validation, const Path& path,
                    const std::string& text, bool is_of_search);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_VALIDATE_OBJECTIVES_H_
