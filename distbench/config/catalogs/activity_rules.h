// Rules that involve more than one setting of an activity.

#ifndef DISTBENCH_CONFIG_CATALOGS_ACTIVITY_RULES_H_
#define DISTBENCH_CONFIG_CATALOGS_ACTIVITY_RULES_H_

#include <string>

#include "distbench/config/catalogs/settings.h"
#include "distbench/config/problems/problem.h"

namespace distbench::config {

// Adds a problem for each rule of the activity `function` that the settings
// break. Requires that ValidateSettings() found no problem.
void CheckActivityRules(const Path& path, const std::string& function,
                        const NamedSettings& settings,
                        const SettingsDeclaration& declaration,
                        Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_ACTIVITY_RULES_H_
