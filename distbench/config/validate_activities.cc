#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/activity_catalog.h"
#include "distbench/config/suggest.h"
#include "distbench/config/validators.h"

namespace distbench {

void ValidateActivities(const TestValidation& validation) {
  for (int i = 0; i < validation.test().activity_configs_size(); ++i) {
    const ActivityConfig& config = validation.test().activity_configs(i);
    const Path settings =
        validation.Element("activity_configs", validation.names().activities, i)
            .Field("activity_settings");
    const std::string function = ActivityFunctionOf(config);
    const ActivityDeclaration* const activity = FindActivity(function);
    if (activity == nullptr) {
      validation.Add(
          settings.At(kActivityFunctionSetting),
          absl::StrCat(function.empty() ? "is missing"
                                        : absl::StrCat("no activity is named ",
                                                       Quoted(function)),
                       "; ", Suggestion(function, ActivityNames())));
      continue;
    }
    SettingsDeclaration declaration = activity->settings;
    declaration.settings.push_back({.name = kActivityFunctionSetting,
                                    .description = "Names the activity.",
                                    .default_value = "",
                                    .required = true});
    ValidateSettings(settings, config.activity_settings(), declaration,
                     absl::StrCat("activity ", Quoted(function)),
                     validation.problems());
  }
}

}  // namespace distbench
