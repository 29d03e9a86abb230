#include "distbench/products/search/knobs/builder_knob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/check.h"
#include "test_builder/building/config_string.h"
#include "test_builder/building/test_factory.h"
#include "test_builder/building/vocabulary.h"

namespace distbench::search {
namespace {

bool IsNumber(const test_builder::Parameter& parameter) {
  return parameter.type == test_builder::Parameter::Type::kInteger ||
         parameter.type == test_builder::Parameter::Type::kNumber;
}

absl::StatusOr<test_builder::ValueMap> ReadSettings(const std::string& config) {
  const absl::StatusOr<std::vector<test_builder::Setting>> settings =
      test_builder::ParseConfig(config);
  if (!settings.ok()) return settings.status();
  absl::StatusOr<std::vector<test_builder::SettingsVariant>> variants =
      test_builder::ExpandValueLists(*settings);
  if (!variants.ok()) return variants.status();
  if (variants->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(config), " stands for ", variants->size(),
                     " tests; a search needs exactly one"));
  }
  return std::move(variants->front().settings);
}

absl::StatusOr<test_builder::Parameter> FindNumber(
    const test_builder::ValueMap& settings, const std::string& name) {
  const absl::StatusOr<test_builder::Vocabulary> vocabulary =
      test_builder::Vocabulary::For(settings);
  if (!vocabulary.ok()) return vocabulary.status();
  const test_builder::Parameter* const parameter = vocabulary->Find(name);
  if (parameter != nullptr && IsNumber(*parameter)) return *parameter;
  std::vector<std::string> names;
  for (const test_builder::Parameter& each : vocabulary->parameters()) {
    if (IsNumber(each)) names.push_back(each.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      parameter == nullptr ? "there is no parameter "
                           : "not a numeric parameter: ",
      config::Quoted(name), "; ", config::Suggestion(name, names)));
}

// A probe ignores the duration that the test specifies.
bool AlwaysTurned(const Action&) { return true; }

}  // namespace

absl::StatusOr<std::unique_ptr<BuilderKnob>> BuilderKnob::Make(
    const std::string& config, const std::string& parameter) {
  absl::StatusOr<test_builder::ValueMap> settings = ReadSettings(config);
  if (!settings.ok()) return settings.status();
  absl::StatusOr<test_builder::Parameter> found =
      FindNumber(*settings, parameter);
  if (!found.ok()) return found.status();
  const auto given = settings->find(parameter);
  double base_load = 0;
  if (!absl::SimpleAtod(
          given == settings->end() ? found->default_value : given->second,
          &base_load) ||
      base_load <= 0) {
    base_load = std::max(1.0, found->range.minimum);
  }
  auto knob = std::unique_ptr<BuilderKnob>(new BuilderKnob(
      *std::move(settings), config, *std::move(found), base_load));
  const absl::Status status = knob->Build(base_load).status();
  if (!status.ok()) return status;
  return knob;
}

BuilderKnob::BuilderKnob(test_builder::ValueMap settings, std::string label,
                         test_builder::Parameter parameter, double base_load)
    : settings_(std::move(settings)),
      label_(std::move(label)),
      parameter_(std::move(parameter)),
      base_load_(base_load) {}

double BuilderKnob::min_load() const {
  const double lowest = is_whole() ? 1 : 0.001;
  return std::max(lowest, parameter_.range.minimum);
}

absl::StatusOr<DistributedSystemDescription> BuilderKnob::Build(
    double load) const {
  test_builder::TestRequest request = {.settings = settings_,
                                       .config_label = label_};
  request.settings[parameter_.name] = is_whole()
                                          ? absl::StrCat(std::llround(load))
                                          : absl::StrFormat("%.9g", load);
  test_builder::Notes notes;
  absl::StatusOr<DistributedSystemDescription> test =
      test_builder::BuildTest(request, notes);
  if (!test.ok()) return test.status();
  TestSequence sequence;
  *sequence.add_tests() = *std::move(test);
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (!checked.ok()) return checked.status();
  return std::move(*checked->mutable_tests(0));
}

absl::StatusOr<DistributedSystemDescription> BuilderKnob::At(
    double load, const ProbeTiming& timing) const {
  absl::StatusOr<DistributedSystemDescription> test = Build(load);
  if (test.ok()) TimeProbe(timing, AlwaysTurned, *test);
  return test;
}

}  // namespace distbench::search
