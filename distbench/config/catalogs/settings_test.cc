// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/settings.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

SettingsDeclaration Declaration() {
  return {
      .settings =
          {
              {.name = "color",
               .description = "",
               .default_value = "red",
               .allowed_values = {"red", "green"}},
              {.name = "size",
               .description = "",
               .default_value = int64_t{7},
               .minimum = 1,
               .maximum = 9},
          },
      .pass_through_prefix = "raw.",
  };
}

NamedSettings SettingsOf(const std::string& text) {
  const auto options = base::FromText<ProtocolDriverOptions>(text);
  return options.client_settings();
}

std::vector<Problem> Validate(const std::string& text,
                              const SettingsDeclaration& declaration) {
  Problems problems;
  ValidateSettings(Path("s"), SettingsOf(text), declaration, "driver \"d\"",
                   problems);
  return std::move(problems).Take();
}

TEST(ValidateSettings, AcceptsWhatIsDeclared) {
  EXPECT_THAT(Validate("", Declaration()), IsEmpty());
  EXPECT_THAT(Validate(R"(
      client_settings { name: 'color' string_value: 'green' }
      client_settings { name: 'size' int64_value: 9 }
      client_settings { name: 'raw.a' string_value: 'anything' }
      client_settings { name: 'raw.b' int64_value: -1 })",
                       Declaration()),
              IsEmpty());
}

struct Case {
  const char* rule;
  const char* setting;
  const char* path;
  const char* message;
};

class BadSetting : public ::testing::TestWithParam<Case> {};

TEST_P(BadSetting, IsReported) {
  const std::vector<Problem> problems =
      Validate(GetParam().setting, Declaration());
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].path, GetParam().path);
  EXPECT_THAT(problems[0].message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadSetting,
    ::testing::Values(
        Case{"UnknownName",
             "client_settings { name: 'colour' string_value: 'red' }",
             "s[\"colour\"]",
             "driver \"d\" has no setting \"colour\" here; did you mean "
             "\"color\"? it has \"color\", \"size\" and names that begin with "
             "\"raw.\""},
        Case{"PrefixOnly", "client_settings { name: 'raw.' int64_value: 1 }",
             "s[\"raw.\"]", "has no setting \"raw.\""},
        Case{"NoName", "client_settings { int64_value: 1 }", "s[0].name",
             "is missing"},
        Case{"Repeated",
             "client_settings { name: 'size' int64_value: 1 }"
             "client_settings { name: 'size' int64_value: 2 }",
             "s[1]", "\"size\" is given more than once"},
        Case{"NoValue", "client_settings { name: 'size' }", "s[\"size\"]",
             "has no value; give string_value or int64_value"},
        Case{
            "TwoValues",
            "client_settings { name: 'size' int64_value: 1 string_value: '1' }",
            "s[\"size\"]", "has both"},
        Case{"StringForInteger",
             "client_settings { name: 'size' string_value: '1' }",
             "s[\"size\"]", "is a number; give int64_value"},
        Case{"IntegerForString",
             "client_settings { name: 'color' int64_value: 1 }", "s[\"color\"]",
             "is a string; give string_value"},
        Case{"ValueNotAllowed",
             "client_settings { name: 'color' string_value: 'blue' }",
             "s[\"color\"]", "must be one of \"red\", \"green\""},
        Case{"PassedOnOutOfRange",
             "client_settings { name: 'raw.a' int64_value: 2147483648 }",
             "s[\"raw.a\"]", "2147483648 is out of range"},
        Case{"OutOfRange", "client_settings { name: 'size' int64_value: 10 }",
             "s[\"size\"]", "10 is out of range; must be from 1 to 9"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateSettings, MissesWhatIsRequired) {
  SettingsDeclaration declaration = Declaration();
  declaration.settings[1].required = true;
  EXPECT_THAT(Validate("", declaration),
              ElementsAre(Problem{
                  "s", "setting \"size\" is missing; driver \"d\" needs it"}));
}

TEST(ResolveSettings, FillsInDefaults) {
  const auto settings = ResolveSettings(
      SettingsOf("client_settings { name: 'size' int64_value: 3 }"
                 "client_settings { name: 'raw.a' string_value: 'x' }"),
      Declaration());
  EXPECT_THAT(settings, ElementsAre(Pair("color", SettingValue("red")),
                                    Pair("raw.a", SettingValue("x")),
                                    Pair("size", SettingValue(int64_t{3}))));
}

TEST(StringSetting, IsTheValueOrTheDefault) {
  const auto given =
      SettingsOf("client_settings { name: 'color' string_value: 'green' }");
  EXPECT_EQ(StringSetting(given, Declaration(), "color"), "green");
  EXPECT_EQ(StringSetting({}, Declaration(), "color"), "red");
  EXPECT_EQ(StringSetting({}, Declaration(), "size"), "");
  EXPECT_EQ(StringSetting({}, Declaration(), "unknown"), "");
}

}  // namespace
}  // namespace distbench::config
