#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

void CheckThatSomethingRuns(const TestValidation& validation) {
  const TestNames& names = validation.names();
  if (names.services.names().empty()) {
    validation.Add(validation.path().Field("services"),
                   "there are none; add at least one");
    return;
  }
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

void CheckOverloadLimits(const TestValidation& validation) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const OverloadLimits& limits = validation.test().overload_limits();
  const Path path = validation.path().Field("overload_limits");
  validation.CheckRange(path.Field("max_threads"), limits.max_threads(), 1,
                        kMax);
  validation.CheckRange(path.Field("max_pending_rpcs"),
                        limits.max_pending_rpcs(), 1, kMax);
  if (limits.has_max_memory_bytes()) {
    validation.CheckRange(path.Field("max_memory_bytes"),
                          limits.max_memory_bytes(), 1, kMax);
  }
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
  CheckOverloadLimits(validation);
  validation.CheckRange(validation.path().Field("sample_memory_bytes"),
                        validation.test().sample_memory_bytes(), 0,
                        std::numeric_limits<int64_t>::max());
  validation.CheckRange(validation.path().Field("recording_memory_bytes"),
                        validation.test().recording_memory_bytes(), 0,
                        std::numeric_limits<int64_t>::max());
  if (validation.test().has_requirements()) {
    ValidateHostRequirements(validation.path().Field("requirements"),
                             validation.test().requirements(),
                             validation.problems());
  }
  if (validation.test().has_workers_per_instance()) {
    validation.CheckRange(validation.path().Field("workers_per_instance"),
                          validation.test().workers_per_instance(), 1,
                          kMaxWorkers);
  }
}

}  // namespace distbench::config
