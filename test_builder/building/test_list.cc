// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/building/test_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "google/protobuf/util/message_differencer.h"
#include "test_builder/building/config_string.h"
#include "test_builder/building/test_factory.h"

namespace distbench::test_builder {
namespace {

constexpr int kMaxDecimals = 9;
// Doubles above this cannot represent all integers.
constexpr double kMaxMagnitude = 1e15;

struct Decimal {
  double value = 0;
  int decimals = 0;
};

absl::Status Error(absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("parameter_sweep: ", problem));
}

// Parses "12", "-3", "0.25". Rejects exponents, because they leave the number
// of decimals open.
absl::StatusOr<Decimal> ParseDecimal(absl::string_view role,
                                     absl::string_view text) {
  Decimal decimal;
  const size_t point = text.find('.');
  if (point != text.npos) decimal.decimals = text.size() - point - 1;
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c) || c == '.' || c == '-';
  });
  if (!plain || !absl::SimpleAtod(text, &decimal.value) ||
      decimal.decimals > kMaxDecimals ||
      std::abs(decimal.value) > kMaxMagnitude) {
    return Error(absl::StrCat(role, " is \"", text,
                              "\", and must be a number such as 100 or 0.25"));
  }
  return decimal;
}

absl::StatusOr<std::vector<std::string>> AddedValues(
    const Decimal& start, absl::string_view step_text, const Decimal& end) {
  const absl::StatusOr<Decimal> step = ParseDecimal("STEP", step_text);
  if (!step.ok()) return step.status();
  if (step->value == 0)
    return Error("STEP is 0; it must lead from START to END");
  const int decimals = std::max(start.decimals, step->decimals);
  // The last value may miss END by the rounding error of binary fractions.
  constexpr double kTolerance = 1e-6;
  const double last_step =
      std::floor((end.value - start.value) / step->value + kTolerance);
  if (last_step >= kMaxSweepValues) {
    return Error(absl::StrCat("makes more than ", kMaxSweepValues,
                              " values; STEP must be larger"));
  }
  std::vector<std::string> values;
  for (int i = 0; i <= last_step; ++i) {
    values.push_back(
        absl::StrFormat("%.*f", decimals, start.value + i * step->value));
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> MultipliedValues(
    const Decimal& start, absl::string_view factor_text, const Decimal& end) {
  const absl::StatusOr<Decimal> factor =
      ParseDecimal("the factor", factor_text);
  if (!factor.ok()) return factor.status();
  if (factor->value <= 0 || factor->value == 1 || start.value <= 0) {
    return Error(
        "a sweep by multiplication needs START above 0, and a factor "
        "above 0 that is not 1");
  }
  constexpr double kTolerance = 1e-9;
  std::vector<std::string> values;
  for (int i = 0; i < kMaxSweepValues; ++i) {
    const double value = start.value * std::pow(factor->value, i);
    const bool beyond = factor->value > 1
                            ? value > end.value * (1 + kTolerance)
                            : value < end.value * (1 - kTolerance);
    if (beyond || end.value <= 0) return values;
    std::string text = absl::StrFormat("%.*f", start.decimals, value);
    if (values.empty() || values.back() != text) {
      values.push_back(std::move(text));
    }
  }
  return Error(absl::StrCat("takes more than ", kMaxSweepValues,
                            " steps; the factor must differ more from 1"));
}

}  // namespace

absl::StatusOr<Sweep> MakeSweep(absl::string_view name, absl::string_view start,
                                absl::string_view step, absl::string_view end) {
  Sweep sweep;
  sweep.parameters = absl::StrSplit(name, ',');
  for (const std::string& parameter : sweep.parameters) {
    if (parameter.empty()) {
      return Error(absl::StrCat("NAME is \"", name,
                                "\", and must be a parameter, or several "
                                "joined by commas"));
    }
  }
  const absl::StatusOr<Decimal> first = ParseDecimal("START", start);
  if (!first.ok()) return first.status();
  const absl::StatusOr<Decimal> last = ParseDecimal("END", end);
  if (!last.ok()) return last.status();
  absl::StatusOr<std::vector<std::string>> values =
      absl::ConsumePrefix(&step, "x") ? MultipliedValues(*first, step, *last)
                                      : AddedValues(*first, step, *last);
  if (!values.ok()) return values.status();
  sweep.values = *std::move(values);
  if (sweep.values.empty()) {
    return Error(absl::StrCat("no value lies between ", start, " and ", end,
                              "; STEP must lead from START to END"));
  }
  return sweep;
}

namespace {

constexpr char kLabel[] = "config_label";

// Parameters that have several values among the tests.
std::set<std::string> Distinguishing(const std::vector<NamedTest*>& tests) {
  std::map<std::string, std::set<std::string>> values;
  for (const NamedTest* test : tests) {
    for (const auto& [name, value] : test->varied) values[name].insert(value);
  }
  std::set<std::string> names;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1) names.insert(name);
  }
  return names;
}

void TellApart(const std::vector<NamedTest*>& tests) {
  const std::set<std::string> names = Distinguishing(tests);
  for (NamedTest* test : tests) {
    std::string name = test->test.name();
    for (const auto& [parameter, value] : test->varied) {
      if (names.count(parameter) > 0) {
        absl::StrAppend(&name, "-", parameter, "_", value);
      }
    }
    SetTestName(name, test->test);
  }
}

DistributedSystemDescription WithoutLabel(DistributedSystemDescription test) {
  test.mutable_attributes()->erase(kLabel);
  return test;
}

std::string LabelOf(const DistributedSystemDescription& test) {
  return test.attributes().at(kLabel);
}

absl::Status SharedNameError(const DistributedSystemDescription& a,
                             const DistributedSystemDescription& b) {
  std::set<std::string> differing;
  for (const auto* pair : {&a, &b}) {
    const auto& others = (pair == &a ? b : a).attributes();
    for (const auto& [name, value] : pair->attributes()) {
      const auto other = others.find(name);
      if (name != kLabel && (other == others.end() || other->second != value)) {
        differing.insert(name);
      }
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      LabelOf(a), " and ", LabelOf(b), ": both tests would be named ", a.name(),
      ", but they differ",
      differing.empty() ? ""
                        : absl::StrCat(" in ", absl::StrJoin(differing, ", ")),
      "; build them one by one, each with a label (-l) or directory of its "
      "own"));
}

constexpr size_t kMaxTests = 10000;

// Adds the problems, if any, each with the config that caused it, but none
// twice.
void AddProblems(absl::string_view config, const absl::Status& status,
                 std::vector<std::string>& problems) {
  if (status.ok()) return;
  for (absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    std::string problem = absl::StrCat(config, ": ", line);
    if (absl::c_linear_search(problems, problem)) continue;
    problems.push_back(std::move(problem));
  }
}

// One variant for each combination of the sweeps' values.
absl::StatusOr<std::vector<SettingsVariant>> SweepPoints(
    absl::Span<const Sweep> sweeps) {
  std::set<absl::string_view> names;
  std::vector<SettingsVariant> points(1);
  for (const Sweep& sweep : sweeps) {
    for (const std::string& name : sweep.parameters) {
      if (names.insert(name).second) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("parameter_sweep: ", name, " is swept twice"));
    }
    if (points.size() * sweep.values.size() > kMaxTests) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sweeps make more than ", kMaxTests, " tests; shorten them"));
    }
    points = Multiply(points, sweep.parameters, sweep.values);
  }
  return points;
}

// A sweep over names that are no parameters makes tests that are equal but for
// attributes. Names that are refused by themselves are left to BuildTest().
absl::Status CheckSweep(const Sweep& sweep, const Vocabulary& vocabulary) {
  if (sweep.values.size() < 2) return absl::OkStatus();
  for (const std::string& name : sweep.parameters) {
    if (vocabulary.Find(name) != nullptr || IsDerived(name) ||
        vocabulary.MeantBy(name).has_value()) {
      return absl::OkStatus();
    }
  }
  std::set<std::string> known;
  for (const Parameter& parameter : vocabulary.parameters()) {
    known.insert(parameter.name());
  }
  return Error(absl::StrCat(
      absl::StrJoin(sweep.parameters, ","), ": not a parameter of ",
      vocabulary.pattern().name(), " or ", vocabulary.protocol().name(),
      ", so that the tests would all be the same; the parameters are ",
      absl::StrJoin(known, ", "),
      "; --allow_extra accepts it as an attribute"));
}

absl::Status CheckSweeps(const TestListRequest& request,
                         const ValueMap& settings) {
  if (request.allow_extra || request.sweeps.empty()) return absl::OkStatus();
  const absl::StatusOr<Vocabulary> vocabulary = Vocabulary::For(settings);
  if (!vocabulary.ok()) return vocabulary.status();
  for (const Sweep& sweep : request.sweeps) {
    const absl::Status status = CheckSweep(sweep, *vocabulary);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Adds the tests of one config at one point of the sweeps.
absl::Status AddTests(const TestListRequest& request, const std::string& config,
                      const std::vector<Setting>& of_config,
                      const SettingsVariant& point,
                      std::vector<NamedTest>& tests, Notes& notes) {
  std::vector<Setting> settings = {{"test_duration", request.duration}};
  settings.insert(settings.end(), of_config.begin(), of_config.end());
  for (const std::string& name : point.varied) {
    settings.push_back({name, point.settings.at(name)});
  }
  const absl::StatusOr<std::vector<SettingsVariant>> variants =
      ExpandValueLists(settings);
  if (!variants.ok()) return variants.status();
  if (tests.size() + variants->size() > kMaxTests) {
    return absl::InvalidArgumentError(
        absl::StrCat("makes more than ", kMaxTests, " tests in all"));
  }
  for (const SettingsVariant& variant : *variants) {
    if (absl::Status status = CheckSweeps(request, variant.settings);
        !status.ok()) {
      return status;
    }
    std::vector<std::string> varied = point.varied;
    varied.insert(varied.end(), variant.varied.begin(), variant.varied.end());
    absl::StatusOr<DistributedSystemDescription> test =
        BuildTest({.settings = variant.settings,
                   .config_label = absl::StrCat(request.label, config),
                   .swept_parameters = absl::StrJoin(varied, ","),
                   .allow_extra = request.allow_extra},
                  notes);
    if (!test.ok()) return test.status();
    NamedTest& added = tests.emplace_back();
    added.test = *std::move(test);
    for (const std::string& name : varied) {
      added.varied[name] = variant.settings.at(name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<DistributedSystemDescription>> GiveOwnNames(
    std::vector<NamedTest> tests, Notes& notes) {
  std::map<std::string, std::vector<NamedTest*>> by_name;
  for (NamedTest& test : tests) by_name[test.test.name()].push_back(&test);
  for (const auto& [name, sharers] : by_name) {
    if (sharers.size() > 1) TellApart(sharers);
  }

  std::vector<DistributedSystemDescription> named;
  std::map<std::string, size_t> index;
  for (NamedTest& test : tests) {
    const auto [same, is_new] = index.emplace(test.test.name(), named.size());
    if (is_new) {
      named.push_back(std::move(test.test));
    } else if (EqualButForLabels(named[same->second], test.test)) {
      notes.Add(absl::StrCat(LabelOf(test.test), " makes the same test as ",
                             LabelOf(named[same->second]),
                             "; it is kept once"));
    } else {
      return SharedNameError(named[same->second], test.test);
    }
  }
  return named;
}

bool EqualButForLabels(const DistributedSystemDescription& a,
                       const DistributedSystemDescription& b) {
  return google::protobuf::util::MessageDifferencer::Equals(WithoutLabel(a),
                                                            WithoutLabel(b));
}

absl::StatusOr<std::vector<DistributedSystemDescription>> BuildTests(
    const TestListRequest& request, Notes& notes) {
  const absl::StatusOr<std::vector<SettingsVariant>> points =
      SweepPoints(request.sweeps);
  if (!points.ok()) return points.status();

  std::vector<std::string> problems;
  std::vector<std::pair<std::string, std::vector<Setting>>> parsed;
  for (const std::string& config : request.configs) {
    absl::StatusOr<std::vector<Setting>> settings =
        ParseConfig(absl::StrCat(request.prefix, config));
    AddProblems(config, settings.status(), problems);
    if (settings.ok()) parsed.emplace_back(config, *std::move(settings));
  }

  std::vector<NamedTest> tests;
  for (const SettingsVariant& point : *points) {
    for (const auto& [config, settings] : parsed) {
      AddProblems(config,
                  AddTests(request, config, settings, point, tests, notes),
                  problems);
    }
  }
  if (!problems.empty()) return ToStatus(problems);
  return GiveOwnNames(std::move(tests), notes);
}

}  // namespace distbench::test_builder
