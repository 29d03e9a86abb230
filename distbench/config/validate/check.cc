// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/check.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/base/plugins.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/validators.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::config {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// ---- Canonical form ---------------------------------------------------------

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
}

// ---- Validity ---------------------------------------------------------------

// Adds a problem for each text that is not UTF-8, which reports and exports
// could not hold. `path`, that of the message, is made only if there is one:
// texts are many.
void CheckEncoding(const Message& message, absl::FunctionRef<Path()> path,
                   Problems& problems) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_list = field->is_repeated();
    const bool is_text = field->type() == FieldDescriptor::TYPE_STRING;
    if (!is_text && field->message_type() == nullptr) continue;
    const int size = is_list ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      const auto place = [&] {
        const Path all = path().Field(field->name());
        return is_list ? all.At(i) : all;
      };
      if (!is_text) {
        CheckEncoding(is_list
                          ? reflection.GetRepeatedMessage(message, field, i)
                          : reflection.GetMessage(message, field),
                      place, problems);
        continue;
      }
      const std::string text =
          is_list ? reflection.GetRepeatedString(message, field, i)
                  : reflection.GetString(message, field);
      if (base::IsUtf8(text)) continue;
      problems.Add(place(), "is not valid text; write it in UTF-8");
    }
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

// Of the test itself and its attributes; field rules are about those of what it
// consists of.
void ValidateOwnNames(const TestValidation& validation) {
  const auto check = [&](const Path& path, const std::string& name) {
    const std::string problem = ProblemOfCharacters(name);
    if (!problem.empty()) validation.Add(path, problem);
  };
  check(validation.path().Field("name"), validation.test().name());
  const Path attributes = validation.path().Field("attributes");
  const std::map<std::string, std::string> sorted(
      validation.test().attributes().begin(),
      validation.test().attributes().end());
  for (const auto& [name, value] : sorted) check(attributes.At(name), name);
}

// There is something to run. Also checks the test's own names, the timeout and
// the requirements.
void ValidateTestSettings(const TestValidation& validation) {
  ValidateOwnNames(validation);
  CheckThatSomethingRuns(validation);
  const auto timeout = TestTimeoutSeconds(validation.test());
  if (!timeout.ok()) {
    validation.Add(
        validation.path().Field("attributes").At(kTestTimeoutAttribute),
        timeout.status().message());
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
  CheckEncoding(test, [&] { return path; }, problems);
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
  ValidateWireTime(validation);
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
