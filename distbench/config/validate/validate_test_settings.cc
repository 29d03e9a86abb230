#include <algorithm>
#include <string>

#include "distbench/config/requirements/host_requirements.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

void CheckThatSomethingRuns(const TestValidation& validation) {
  const TestNames& names = validation.names();
  if (names.services.names().empty()) return;
  const auto& services = names.services.names();
  const bool has_main_list = std::any_of(
      services.begin(), services.end(), [&](const std::string& service) {
        return names.lists.Find(service) != kNone;
      });
  if (has_main_list) return;
  validation.Add(validation.path().Field("action_lists"),
                 "none has a service's name, so no traffic would start; "
                 "add the main program of a service under its name");
}

}  // namespace

void ValidateTestSettings(const TestValidation& validation) {
  CheckThatSomethingRuns(validation);
  const auto timeout = TestTimeoutSeconds(validation.test());
  if (!timeout.ok()) {
    validation.Add(
        validation.path().Field("attributes").At(kTestTimeoutAttribute),
        std::string(timeout.status().message()));
  }
  if (validation.test().has_requirements()) {
    ValidateHostRequirements(validation.path().Field("requirements"),
                             validation.test().requirements(),
                             validation.problems());
  }
}

}  // namespace distbench::config
