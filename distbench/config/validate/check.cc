#include "distbench/config/validate/check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

bool HasSizes(const ServiceSpec& service) {
  return service.has_x_size() || service.has_y_size() || service.has_z_size();
}

void CanonicalizeService(ServiceSpec& service) {
  if (IsOutside(service) && !service.has_count()) service.set_count(1);
  if (HasSizes(service)) {
    const int64_t count = GridOf(service).Count();
    if (!service.has_count() && count <= std::numeric_limits<int32_t>::max()) {
      service.set_count(static_cast<int32_t>(count));
    }
  } else if (service.count() >= 1) {
    service.set_x_size(service.count());
  }
}

void CanonicalizeTest(DistributedSystemDescription& test) {
  CanonicalizeFields(test);
  for (ServiceSpec& service : *test.mutable_services()) {
    CanonicalizeService(service);
  }
  for (Action& action : *test.mutable_actions()) {
    if (!action.iterations().has_arrivals()) continue;
    CanonicalizeArrivals(*action.mutable_iterations());
  }
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->Canonicalize(test);
  }
}

// A product that is linked into this program brings its rules.
bool HasProduct(absl::string_view name) {
  return base::Plugins<LanguagePart>::Find(name) != nullptr;
}

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

// There is something to run. Also checks the timeout and the requirements.
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

void ValidateTest(const DistributedSystemDescription& test, const Path& path,
                  Problems& problems) {
  const TestValidation validation(test, path, problems);
  ValidateEncoding(validation);
  CheckTest(test, path, validation.names(), HasProduct, problems);
  ValidateTestSettings(validation);
  ValidateServices(validation);
  ValidateChannels(validation);
  ValidatePlacement(validation);
  ValidateDrivers(validation);
  ValidateDistributions(validation);
  ValidateRpcs(validation);
  ValidateActions(validation);
  ValidateActionLists(validation);
  ValidateFlow(validation);
  ValidateActivities(validation);
  ValidateReplayTraces(validation);
  ValidateServerFaults(validation);
  ValidateObjectives(validation);
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->Validate(validation);
  }
}

}  // namespace

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence) {
  Canonicalize(sequence);
  absl::Status status = ToStatus(Validate(sequence));
  if (!status.ok()) return status;
  return sequence;
}

void Canonicalize(TestSequence& sequence) {
  for (DistributedSystemDescription& test : *sequence.mutable_tests()) {
    CanonicalizeTest(test);
  }
}

std::vector<Problem> Validate(const TestSequence& sequence) {
  Problems problems;
  const Path tests("tests");
  if (sequence.tests().empty()) {
    problems.Add(tests, "there are none; add at least one");
  }
  for (int i = 0; i < sequence.tests_size(); ++i) {
    ValidateTest(sequence.tests(i), tests.At(i), problems);
  }
  return std::move(problems).Take();
}

}  // namespace distbench::config
