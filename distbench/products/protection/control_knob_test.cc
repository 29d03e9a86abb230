// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_knob.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "distbench/products/search/knobs/knob.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

// A test with one set of controls, "on".
DistributedSystemDescription MakeTest(const std::string& groups) {
  DistributedSystemDescription test;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "services { name: 'client' } services { name: 'server' } "
      "experiment { controls { name: 'off' } controls { name: 'on' " +
          groups + "} }",
      &test));
  return test;
}

ControlSetting Find(const DistributedSystemDescription& test,
                    const std::string& name) {
  const absl::StatusOr<ControlSetting> setting =
      FindControlSetting(test, "on", name);
  EXPECT_TRUE(setting.ok()) << setting.status();
  return setting.value_or(ControlSetting());
}

TEST(FindControlSettingTest, LooksForTheLowestOfWhatTheSubjectIsGiven) {
  const DistributedSystemDescription test = MakeTest(
      "groups { services: 'antagonist_*' memory_high: '1GiB' }"
      "groups { services: 'serv*' cpu_weight: 500 memory_low: '75%' }");
  const ControlSetting weight = Find(test, "cpu_weight");
  EXPECT_TRUE(weight.protects_by_more);
  EXPECT_TRUE(weight.is_whole);
  EXPECT_EQ(weight.value, 500);
  EXPECT_EQ(weight.min_value, 1);
  EXPECT_EQ(weight.max_value, 10'000);
  EXPECT_EQ(weight.unit, "cpu_weight");
  const ControlSetting low = Find(test, "memory_low");
  EXPECT_TRUE(low.protects_by_more);
  EXPECT_EQ(low.value, 75);
  EXPECT_EQ(low.max_value, 100);
  EXPECT_EQ(low.unit, "percent of the host as memory_low");
}

TEST(FindControlSettingTest, LooksForTheHighestOfWhatRestrainsOthers) {
  const DistributedSystemDescription test = MakeTest(
      "groups { services: 'antagonist_hog' memory_max: '1GiB' cpu_max: '1.5' }"
      "groups { everything_else: true io_weight: 50 }");
  EXPECT_FALSE(Find(test, "memory_max").protects_by_more);
  EXPECT_EQ(Find(test, "memory_max").value, 1 << 30);
  EXPECT_EQ(Find(test, "memory_max").unit, "bytes of memory_max");
  EXPECT_FALSE(Find(test, "io_weight").protects_by_more);
  EXPECT_FALSE(Find(test, "cpu_max").is_whole);
  EXPECT_EQ(Find(test, "cpu_max").value, 1.5);
  EXPECT_EQ(Find(test, "cpu_max").unit, "CPUs as cpu_max");
}

TEST(FindControlSettingTest, SaysWhatIsMissing) {
  const DistributedSystemDescription test = MakeTest(
      "groups { services: 'server' cpu_weight: 500 memory_max: '1GiB' }"
      "groups { services: 'client' cpu_weight: 100 }"
      "groups { services: 'antagonist_hog' memory_high: 'max' }");
  for (const auto& [name, problem] :
       std::vector<std::pair<std::string, std::string>>{
           {"cpu_weigth", "did you mean \"cpu_weight\"?"},
           {"cpuset_cpus", "is no setting that a knob can vary"},
           {"io_weight", "no group of the controls \"on\" has io_weight"},
           {"cpu_weight", "more than one group"},
           {"memory_max", "limits the test's own services"},
           {"memory_high", "is \"max\"; the knob needs an amount"}}) {
    const absl::StatusOr<ControlSetting> setting =
        FindControlSetting(test, "on", name);
    ASSERT_FALSE(setting.ok()) << name;
    EXPECT_EQ(setting.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(setting.status().message()), HasSubstr(problem));
  }
  EXPECT_THAT(
      std::string(
          FindControlSetting(test, "of", "cpu_weight").status().message()),
      HasSubstr("did you mean \"off\"?"));
}

TEST(SetControlTest, WritesTheValueInItsForm) {
  DistributedSystemDescription test = MakeTest(
      "groups { services: 'server' cpu_weight: 500 memory_low: '75%' "
      "memory_min: '1MiB' }"
      "groups { services: 'antagonist_hog' cpu_max: '2' }");
  const std::vector<std::pair<std::string, double>> values = {
      {"cpu_weight", 20},
      {"memory_low", 60},
      {"memory_min", 3'000'001},
      {"cpu_max", 0.25}};
  for (const auto& [name, value] : values) {
    SetControl(Find(test, name), value, test);
    EXPECT_EQ(Find(test, name).value, value) << name;
  }
  const ControlSet& set = test.experiment().controls(1);
  EXPECT_EQ(set.groups(0).cpu_weight(), 20);
  EXPECT_EQ(set.groups(0).memory_low(), "60%");
  EXPECT_EQ(set.groups(1).cpu_max(), "0.25");
}

TEST(ControlKnobTest, VariesASettingOfTheExperiment) {
  const DistributedSystemDescription test = MakeTest(
      "groups { services: 'server' cpu_weight: 300 } "
      "groups { services: 'antagonist_hog' cpu_max: '1.5' }");
  const auto make = [&](const std::string& setting) {
    const auto name = search::ParseKnobName("control:" + setting);
    EXPECT_TRUE(name.ok()) << name.status();
    return search::MakeKnob(*name, test);
  };
  const auto weight = make("on:cpu_weight");
  ASSERT_TRUE(weight.ok()) << weight.status();
  EXPECT_TRUE((*weight)->finds_lowest());
  EXPECT_TRUE((*weight)->is_whole());
  EXPECT_FALSE((*weight)->is_rate());
  EXPECT_EQ((*weight)->base_load(), 300);
  EXPECT_EQ((*weight)->unit(), "cpu_weight");
  const auto turned = (*weight)->At(
      20, {.warmup = absl::Seconds(1), .measured = absl::Seconds(3)});
  ASSERT_TRUE(turned.ok()) << turned.status();
  EXPECT_EQ(turned->experiment().controls(1).groups(0).cpu_weight(), 20);
  const auto limit = make("on:cpu_max");
  ASSERT_TRUE(limit.ok()) << limit.status();
  EXPECT_FALSE((*limit)->finds_lowest());
  EXPECT_FALSE((*limit)->is_whole());
  EXPECT_THAT(std::string(make("of:cpu_weight").status().message()),
              HasSubstr("did you mean \"off\"?"));
}

}  // namespace
}  // namespace distbench::protection
