#include "distbench/products/simulation/variation/variation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/simulation/variation/field_path.h"
#include "test_builder/building/config_string.h"
#include "test_builder/building/test_list.h"

namespace distbench::simulation {
namespace {

constexpr size_t kMaxPoints = 10000;

// By these attributes, which test_builder sets as well, the report's page finds
// sweeps.
constexpr char kPatternAttribute[] = "traffic_pattern";
constexpr char kSweptAttribute[] = "swept_parameter";
constexpr char kConfigAttribute[] = "config_label";

constexpr char kServicePrefix[] = "service.";
constexpr char kTestPrefix[] = "test.";
constexpr char kFabricPrefix[] = "fabric.";

constexpr char kVariedSource[] = "changed by --vary";

// The value of each of some variations.
using Choice = std::vector<std::pair<std::string, std::string>>;

bool IsOfPattern(const Variation& variation) {
  return !absl::StartsWith(variation.name, kServicePrefix) &&
         !absl::StartsWith(variation.name, kTestPrefix) &&
         !absl::StartsWith(variation.name, kFabricPrefix);
}

absl::Status CheckNames(const std::vector<Variation>& variations) {
  for (size_t i = 0; i < variations.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (variations[i].name != variations[j].name) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--vary: ", variations[i].name,
                       " is there twice; give all of its values at once"));
    }
  }
  return absl::OkStatus();
}

// ---- Parameters of patterns -------------------------------------------------

// test_builder would take an unknown name for an attribute.
absl::Status CheckParameter(
    const std::vector<test_builder::SettingsVariant>& variants,
    const std::string& name) {
  for (const test_builder::SettingsVariant& variant : variants) {
    const absl::StatusOr<test_builder::Vocabulary> vocabulary =
        test_builder::Vocabulary::For(variant.settings);
    if (!vocabulary.ok()) return vocabulary.status();
    if (vocabulary->Find(name) != nullptr) continue;
    std::vector<std::string> names;
    for (const test_builder::Parameter& parameter : vocabulary->parameters()) {
      names.push_back(parameter.name);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "--vary: ", vocabulary->pattern().name, " has no parameter ",
        config::Quoted(name), "; ", config::Suggestion(name, names),
        "; what no pattern has is called service.NAME, test.PATH or "
        "fabric.PATH"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TestSequence> BuildPattern(
    const std::string& pattern, const std::vector<Variation>& variations,
    test_builder::Notes& notes) {
  const absl::StatusOr<std::vector<test_builder::Setting>> settings =
      test_builder::ParseConfig(pattern);
  if (!settings.ok()) return settings.status();
  const absl::StatusOr<std::vector<test_builder::SettingsVariant>> variants =
      test_builder::ExpandValueLists(*settings);
  if (!variants.ok()) return variants.status();
  test_builder::TestListRequest request;
  request.configs = {pattern};
  for (const Variation& variation : variations) {
    if (!IsOfPattern(variation)) continue;
    const absl::Status known = CheckParameter(*variants, variation.name);
    if (!known.ok()) return known;
    request.sweeps.push_back(
        {.parameters = {variation.name}, .values = variation.values});
  }
  absl::StatusOr<std::vector<DistributedSystemDescription>> tests =
      test_builder::BuildTests(request, notes);
  if (!tests.ok()) return tests.status();
  TestSequence sequence;
  for (DistributedSystemDescription& test : *tests) {
    *sequence.add_tests() = std::move(test);
  }
  return sequence;
}

// For configs, which have no parameters any more.
absl::Status RefuseParameters(const VariationRequest& request) {
  for (const Variation& variation : request.variations) {
    if (!IsOfPattern(variation)) continue;
    std::string remedy =
        "use service.NAME, test.PATH or fabric.PATH, or --pattern with a "
        "pattern that has this parameter";
    if (request.tests.tests_size() > 0) {
      const auto& attributes = request.tests.tests(0).attributes();
      const auto made_of = attributes.find(kConfigAttribute);
      if (made_of != attributes.end()) {
        remedy = absl::StrCat(
            "the config was made by test_builder: use "
            "--pattern='",
            made_of->second, "' instead");
      }
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--vary: a config has no parameter ",
                     config::Quoted(variation.name), "; ", remedy));
  }
  return absl::OkStatus();
}

// ---- Fields -----------------------------------------------------------------

absl::StatusOr<std::vector<Choice>> ChoicesOfFields(
    const std::vector<Variation>& variations) {
  std::vector<Choice> choices(1);
  for (const Variation& variation : variations) {
    if (IsOfPattern(variation)) continue;
    if (choices.size() * variation.values.size() > kMaxPoints) {
      return absl::InvalidArgumentError(
          absl::StrCat("--vary: more than ", kMaxPoints,
                       " combinations; vary less at once"));
    }
    std::vector<Choice> multiplied;
    for (const Choice& choice : choices) {
      for (const std::string& value : variation.values) {
        multiplied.push_back(choice);
        multiplied.back().push_back({variation.name, value});
      }
    }
    choices = std::move(multiplied);
  }
  return choices;
}

// What was changed was not measured: errors and source no longer hold.
void MarkAsVaried(StackCosts& costs) {
  for (StackCosts::Cost* cost :
       {costs.mutable_client_send(), costs.mutable_server_receive(),
        costs.mutable_server_send(), costs.mutable_client_receive()}) {
    cost->clear_fixed_error_ns();
    cost->clear_ns_per_byte_error();
    cost->clear_batch_error_ns();
  }
  costs.clear_wakeup_error_ns();
  costs.clear_wakeup_cpu_error_ns();
  const std::string source = costs.source();
  if (absl::StartsWith(source, kVariedSource)) return;
  costs.set_source(absl::StrCat(kVariedSource,
                                source.empty() ? "" : "; otherwise ", source));
}

absl::Status SetInFabric(absl::string_view path, absl::string_view value,
                         SimulatedFabric& fabric) {
  const auto before = fabric.stacks();
  absl::Status set = SetField(path, value, fabric);
  if (!set.ok()) return set;
  for (int i = 0; i < fabric.stacks_size(); ++i) {
    if (fabric.stacks(i).SerializeAsString() ==
        before.Get(i).SerializeAsString()) {
      continue;
    }
    MarkAsVaried(*fabric.mutable_stacks(i));
  }
  return absl::OkStatus();
}

absl::Status SetVaried(const std::string& name, const std::string& value,
                       DistributedSystemDescription& test,
                       SimulatedFabric& fabric) {
  absl::string_view path = name;
  if (absl::ConsumePrefix(&path, kFabricPrefix)) {
    return SetInFabric(path, value, fabric);
  }
  if (absl::ConsumePrefix(&path, kTestPrefix)) {
    return SetField(path, value, test);
  }
  return SetField(
      absl::StrCat("services[", absl::StripPrefix(name, kServicePrefix),
                   "].count"),
      value, test);
}

// The last part of the name is enough for people, and has no brackets.
absl::string_view ShortName(absl::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

void Label(const Choice& choice, DistributedSystemDescription& test) {
  auto& attributes = *test.mutable_attributes();
  if (attributes[kPatternAttribute].empty()) {
    attributes[kPatternAttribute] = test.name();
  }
  std::string& swept = attributes[kSweptAttribute];
  for (const auto& [name, value] : choice) {
    attributes[name] = value;
    absl::StrAppend(&swept, swept.empty() ? "" : ",", name);
    test.set_name(absl::StrCat(test.name(), "-", ShortName(name), "_", value));
  }
}

std::string TextOf(const Choice& choice) {
  return absl::StrJoin(choice, ", ", absl::PairFormatter("="));
}

// Sets the values, and labels the test with them.
absl::Status Apply(const Choice& choice, DistributedSystemDescription& test,
                   SimulatedFabric& fabric) {
  for (const auto& [name, value] : choice) {
    const absl::Status set = SetVaried(name, value, test, fabric);
    if (set.ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--vary: ", name, "=", value, ": ", std::string(set.message())));
  }
  if (!choice.empty()) Label(choice, test);
  return absl::OkStatus();
}

// Adds the tests with these values, checked.
absl::Status AddPoints(const VariationRequest& request, const Choice& choice,
                       VariedTests& varied) {
  TestSequence sequence = request.tests;
  for (DistributedSystemDescription& test : *sequence.mutable_tests()) {
    varied.fabrics.push_back(request.fabric);
    const absl::Status applied = Apply(choice, test, varied.fabrics.back());
    if (!applied.ok()) return applied;
  }
  absl::StatusOr<TestSequence> checked =
      config::CheckTestSequence(std::move(sequence));
  if (checked.ok()) {
    varied.sequence.MergeFrom(*checked);
    return absl::OkStatus();
  }
  if (choice.empty()) return checked.status();
  return absl::InvalidArgumentError(absl::StrCat(
      "with ", TextOf(choice), ":\n", std::string(checked.status().message())));
}

}  // namespace

absl::StatusOr<Variation> ParseVariation(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  Variation variation = {.name = std::string(parts.first),
                         .values = absl::StrSplit(parts.second, ',')};
  std::vector<std::string> sorted = variation.values;
  std::sort(sorted.begin(), sorted.end());
  if (variation.name.empty() || sorted.empty() || sorted.front().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--vary: ", config::Quoted(text),
                     " is not NAME=VALUE,VALUE, such as leaf_count=10,100"));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--vary: ", variation.name, " has the value ", *twice, " twice"));
  }
  return variation;
}

absl::StatusOr<VariedTests> VaryTests(VariationRequest request,
                                      test_builder::Notes& notes) {
  if (absl::Status names = CheckNames(request.variations); !names.ok()) {
    return names;
  }
  if (request.pattern.empty()) {
    const absl::Status refused = RefuseParameters(request);
    if (!refused.ok()) return refused;
  } else {
    absl::StatusOr<TestSequence> built =
        BuildPattern(request.pattern, request.variations, notes);
    if (!built.ok()) return built.status();
    request.tests = *std::move(built);
  }
  const absl::StatusOr<std::vector<Choice>> choices =
      ChoicesOfFields(request.variations);
  if (!choices.ok()) return choices.status();
  VariedTests varied;
  for (const Choice& choice : *choices) {
    const absl::Status added = AddPoints(request, choice, varied);
    if (!added.ok()) return added;
  }
  return varied;
}

}  // namespace distbench::simulation
