// What the settings of an activity must fulfil together.

#ifndef DISTBENCH_CONFIG_ACTIVITY_RULES_H_
#define DISTBENCH_CONFIG_ACTIVITY_RULES_H_

#include <string>

#include "distbench/config/problem.h"
#include "distbench/config/settings.h"

namespace distbench {

// Adds a problem for each rule of the activity called `function` that its
// settings break. Requires that ValidateSettings() finds no problem.
void CheckActivityRules(const Path& path, const std::string& function,
                        const NamedSettings& settings,
                        const SettingsDeclaration& declaration,
                        Problems& problems);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_ACTIVITY_RULES_H_
