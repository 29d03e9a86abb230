#include "distbench/config/validate/validate.h"

#include <utility>

#include "distbench/config/validate/validators.h"

namespace distbench {
namespace {

void ValidateTest(const DistributedSystemDescription& test, const Path& path,
                  Problems& problems) {
  const TestValidation validation(test, path, problems);
  ValidateEncoding(validation);
  ValidateTestSettings(validation);
  ValidateNames(validation);
  ValidateServices(validation);
  ValidateBindings(validation);
  ValidateChannels(validation);
  ValidatePlacement(validation);
  ValidateDrivers(validation);
  ValidatePayloads(validation);
  ValidateDistributions(validation);
  ValidateRpcs(validation);
  ValidateActions(validation);
  ValidateActionLists(validation);
  ValidateFlow(validation);
  ValidateActivities(validation);
  ValidateReplayTraces(validation);
  ValidateObjectives(validation);
  ValidateSearch(validation);
}

}  // namespace

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

}  // namespace distbench
