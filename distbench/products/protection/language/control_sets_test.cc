// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/language/control_sets.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/testing/validation_cases.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> ProblemsOf(const std::string& controls,
                                    std::vector<std::string> services = {
                                        "client", "server", "leaf_a",
                                        "leaf_b"}) {
  ControlSet set = base::FromText<ControlSet>(controls);
  config::CanonicalizeFields(set);
  config::Problems problems;
  config::CheckFields(set, config::Path("c"), nullptr, problems);
  ValidateControlSet(set, config::Path("c"), services, problems);
  std::vector<std::string> texts;
  for (const config::Problem& problem : std::move(problems).Take()) {
    texts.push_back(config::ToString(problem));
  }
  return texts;
}

// The problems of a group of the clients that has this setting.
std::vector<std::string> ProblemsOfSetting(const std::string& setting) {
  return ProblemsOf(
      absl::StrCat("groups { services: 'client' ", setting, " }"));
}

class BadControls : public ::testing::TestWithParam<config::ValidationCase> {};

TEST_P(BadControls, IsTheOnlyProblem) { config::ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadControls,
    ::testing::Values(
        config::ValidationCase{"NameWithASlash", "", "controls { name: 'a/b' }",
                               "controls.name", "use letters, digits"},
        config::ValidationCase{"GroupOfNobody", "",
                               "controls { groups { cpu_weight: 5 } }",
                               "controls.groups[0]", "give it services"},
        config::ValidationCase{
            "GroupOfAll", "",
            "controls { groups { services: 'client' cpu_weight: 5 "
            "everything_else: true } }",
            "controls.groups[0]", "give one"},
        config::ValidationCase{
            "Misspelt", "",
            "controls { groups { services: 'clinet' cpu_weight: 5 } }",
            "controls.groups[0].services[0]",
            "no service is named \"clinet\"; did you mean "
            "\"client\"?"},
        config::ValidationCase{
            "GlobOfNobody", "",
            "controls { groups { services: 'servre*' cpu_weight: 5 } }",
            "controls.groups[0].services[0]",
            "no service matches \"servre*\"; did you mean "
            "\"server\"?"},
        config::ValidationCase{
            "Twice", "",
            "controls { groups { services: ['*er', 'server'] cpu_weight: 5 } }",
            "controls.groups[0].services[1]",
            "\"server\" is already in this group"},
        config::ValidationCase{
            "InTwoGroups", "",
            "controls { groups { services: 'cl*' cpu_weight: 5 } "
            "groups { services: ['server', 'client'] cpu_weight: 5 } }",
            "controls.groups[1].services[1]",
            "\"client\" is already in groups[0]"},
        config::ValidationCase{
            "TwoOfEverythingElse", "",
            "controls { "
            "groups { everything_else: true cpu_weight: 5 } "
            "groups { everything_else: true io_weight: 5 } }",
            "controls.groups[1].everything_else",
            "groups[0] is for everything else, too"},
        config::ValidationCase{"Unchanged", "",
                               "controls { groups { services: 'client' } }",
                               "controls.groups[0]", "changes nothing"},
        config::ValidationCase{"EverythingElseUnchanged", "",
                               "controls { groups { everything_else: true } }",
                               "controls.groups[0]", "changes nothing"},
        config::ValidationCase{"IoCostOfNothing", "",
                               "controls { io_cost { enable: true } }",
                               "controls.io_cost[0].device", "is missing"},
        config::ValidationCase{"IoCostUnchanged", "",
                               "controls { io_cost { device: 'sda' } }",
                               "controls.io_cost[0]", "changes nothing"},
        config::ValidationCase{
            "IoCostTwice", "",
            "controls { io_cost { device: 'sda' enable: true } "
            "io_cost { device: 'sda' enable: false } }",
            "controls.io_cost[1].device", "\"sda\" is listed more than once"},
        config::ValidationCase{
            "EmptyModel", "", "controls { io_cost { device: 'sda' model {} } }",
            "controls.io_cost[0].model", "is empty"},
        config::ValidationCase{"EmptyQos", "",
                               "controls { io_cost { device: 'sda' qos {} } }",
                               "controls.io_cost[0].qos", "is empty"},
        config::ValidationCase{"ModelWithoutSpeed", "",
                               "controls { io_cost { device: 'sda' "
                               "model { wseqiops: 0 } } }",
                               "controls.io_cost[0].model.wseqiops",
                               "must be at least 1"},
        config::ValidationCase{"QosIsNoNumber", "",
                               "controls { io_cost { device: 'sda' "
                               "qos { rpct: nan } } }",
                               "controls.io_cost[0].qos.rpct", "from 0 to 100"},
        config::ValidationCase{"QosIsUpsideDown", "",
                               "controls { io_cost { device: 'sda' "
                               "qos { min: 100 max: 50 } } }",
                               "controls.io_cost[0].qos.min",
                               "is above max, 50"}),
    [](const auto& info) { return info.param.rule; });

TEST(ControlSetTest, MayBeEmpty) {
  EXPECT_THAT(ProblemsOf(""), IsEmpty());
  EXPECT_THAT(ProblemsOf("name: 'off' strict: false"), IsEmpty());
}

TEST(ControlSetTest, ReportsAllProblemsAtOnce) {
  EXPECT_THAT(
      ProblemsOf("name: '!' groups { services: 'x' cpu_weight: 0 io_weight: "
                 "10001 } io_cost { device: '?' enable: true }"),
      ElementsAre(HasSubstr("c.name"),
                  HasSubstr("c.groups[0].cpu_weight: 0 is out of range; must "
                            "be from 1 to 10000"),
                  HasSubstr("c.groups[0].io_weight: 10001"),
                  HasSubstr("c.groups[0].services[0]"),
                  HasSubstr("c.io_cost[0].device")));
}

TEST(ControlSetTest, AmountsOfCpuTimeAreCpusSharesOrMax) {
  for (const std::string good : {"1.5", "50%", "max", "0.01"}) {
    EXPECT_THAT(ProblemsOfSetting("cpu_max: '" + good + "'"), IsEmpty());
  }
  for (const std::string bad : {"", "0", "0%", "101%", "one", "-1", "1e2"}) {
    EXPECT_THAT(ProblemsOfSetting("cpu_max: '" + bad + "'"),
                ElementsAre(HasSubstr("c.groups[0].cpu_max: ")))
        << bad;
  }
}

TEST(ControlSetTest, CpuSetsAreLists) {
  EXPECT_THAT(ProblemsOfSetting("cpuset_cpus: '0-3,8' cpuset_mems: '0'"),
              IsEmpty());
  EXPECT_THAT(ProblemsOfSetting("cpuset_cpus: '3-0'"),
              ElementsAre(HasSubstr("c.groups[0].cpuset_cpus: \"3-0\" begins "
                                    "above its end")));
  EXPECT_THAT(ProblemsOfSetting("cpuset_mems: ''"),
              ElementsAre(HasSubstr("c.groups[0].cpuset_mems: is an empty")));
}

TEST(ControlSetTest, AmountsOfMemoryMustNotDescend) {
  EXPECT_THAT(ProblemsOfSetting("memory_min: '1MiB' memory_low: '1MiB' "
                                "memory_high: '75%' memory_max: 'max' "
                                "memory_swap_max: '0B'"),
              IsEmpty());
  EXPECT_THAT(ProblemsOfSetting("memory_low: '50%' memory_max: '1GiB'"),
              IsEmpty())
      << "only the host can compare them";
  EXPECT_THAT(ProblemsOfSetting("memory_min: '2MiB' memory_low: '1MiB'"),
              ElementsAre(HasSubstr("c.groups[0].memory_min: 2MiB is above "
                                    "memory_low, 1MiB")));
  EXPECT_THAT(ProblemsOfSetting("memory_low: '2GiB' memory_max: '1GiB'"),
              ElementsAre(HasSubstr("c.groups[0].memory_low")));
  EXPECT_THAT(ProblemsOfSetting("memory_min: '2MiB' memory_low: '1%' "
                                "memory_high: '1MiB'"),
              ElementsAre(HasSubstr("2MiB is above memory_high, 1MiB")));
  EXPECT_THAT(ProblemsOfSetting("memory_high: 'max' memory_max: '75%'"),
              ElementsAre(HasSubstr("max is above memory_max, 75%")));
  EXPECT_THAT(ProblemsOfSetting("memory_max: '512'"),
              ElementsAre(HasSubstr("c.groups[0].memory_max: \"512\" is not a "
                                    "size")));
  EXPECT_THAT(ProblemsOfSetting("memory_swap_max: '101%'"),
              ElementsAre(HasSubstr("above 0% and at most 100%")));
}

TEST(ControlSetTest, IoLimitsNameADeviceOnceAndLimitSomething) {
  EXPECT_THAT(
      ProblemsOfSetting("io_max { device: 'sda' read_bytes: '1MB' } "
                        "io_max { device: '8:16' write_operations: 1 }"),
      IsEmpty());
  EXPECT_THAT(ProblemsOfSetting("io_max { device: '/dev/sda' }"),
              ElementsAre(HasSubstr("io_max[0]: limits nothing"),
                          HasSubstr("io_max[0].device: \"/dev/sda\" cannot be "
                                    "a block device")));
  EXPECT_THAT(
      ProblemsOfSetting("io_max { device: 'sda' read_bytes: '0B' } "
                        "io_max { device: 'sda' read_operations: 0 }"),
      ElementsAre(HasSubstr("io_max[0].read_bytes: \"0B\" would stop"),
                  HasSubstr("io_max[1].read_operations: 0 is out of range"),
                  HasSubstr("io_max[1].device: \"sda\" is listed more")));
}

TEST(ControlSetTest, PriorityClassesHaveTheKernelsNames) {
  EXPECT_THAT(ProblemsOfSetting("io_priority_class: 'idle'"), IsEmpty());
  EXPECT_THAT(ProblemsOfSetting("io_priority_class: 'ilde'"),
              ElementsAre(HasSubstr(
                  "\"ilde\" is not a class; did you mean \"idle\"?")));
}

TEST(IsBlockDevice, IsANameOrTwoNumbers) {
  for (const std::string text :
       {"sda", "nvme0n1", "dm-0", "cciss!c0d0", "259:0", "4095:1048575"}) {
    EXPECT_TRUE(IsBlockDevice(text)) << text;
  }
  for (const std::string text :
       {"", "/dev/sda", "../sda", "sd a", "259", "259:", ":0", "4096:0",
        "8:1048576", "8:-1", "8:0x1", "8:0:1", "8:0 rbps=1", "-a"}) {
    EXPECT_FALSE(IsBlockDevice(text)) << text;
  }
  EXPECT_FALSE(IsBlockDevice(std::string(32, 'a')));
}

TEST(ControlSetTest, ManyNamesEndTheSearchEarly) {
  const std::vector<std::string> services(50'000, "service");
  std::string group = "groups { cpu_weight: 5";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&group, " services: 'x*'");
  const std::vector<std::string> problems = ProblemsOf(group + "}", services);
  EXPECT_THAT(problems.back(), HasSubstr("use fewer"));
}

TEST(ControlSetTest, HasOneCanonicalForm) {
  ControlSet set = base::FromText<ControlSet>(R"pb(
    name: ""
    groups {
      services: "x"
      everything_else: false
      cpu_max: "01.50"
      cpuset_cpus: "3,0-2"
      memory_low: "0.5GiB"
      memory_high: "075.0%"
      memory_max: "nonsense"
      io_max { device: "sda" read_bytes: "1000kB" }
    })pb");
  config::CanonicalizeFields(set);
  EXPECT_EQ(set.DebugString(), base::FromText<ControlSet>(R"pb(
                                 groups {
                                   services: "x"
                                   cpu_max: "1.5"
                                   cpuset_cpus: "0-3"
                                   memory_low: "512MiB"
                                   memory_high: "75%"
                                   memory_max: "nonsense"
                                   io_max { device: "sda" read_bytes: "1MB" }
                                 })pb")
                                   .DebugString());
  const std::string once = set.SerializeAsString();
  config::CanonicalizeFields(set);
  EXPECT_EQ(set.SerializeAsString(), once);
}

// ---- Instances that share a process -----------------------------------------

TEST(ControlsTest, ServicesInOneProcessAreInOneGroup) {
  const std::string loopback = "default_protocol: 'loopback' controls { ";
  EXPECT_THAT(config::ProblemsAfter(
                  "", loopback + "groups { services: '*' cpu_weight: 5 } }"),
              IsEmpty());
  const std::vector<config::Problem> apart = config::ProblemsAfter(
      "", loopback +
              "groups { services: ['client', 'grid'] cpu_weight: 5 } "
              "groups { services: 'server' cpu_weight: 5 } }");
  ASSERT_EQ(apart.size(), 1);
  EXPECT_EQ(apart[0].path, "tests[0].controls.groups");
  EXPECT_THAT(apart[0].message,
              HasSubstr("\"client\" is in groups[0] and \"server\" in "
                        "groups[1]"));
  const std::vector<config::Problem> outside = config::ProblemsAfter(
      "", loopback + "groups { services: 'client' cpu_weight: 5 } }");
  ASSERT_EQ(outside.size(), 1);
  EXPECT_THAT(outside[0].message, HasSubstr("\"grid\" in no group"));
}

TEST(ControlsTest, OtherServicesMayBeApart) {
  EXPECT_THAT(config::ProblemsAfter(
                  "",
                  "controls { groups { services: 'client' cpu_weight: 5 } "
                  "groups { services: 'server' cpu_weight: 5 } }"),
              IsEmpty());
}

// ---- Warnings ---------------------------------------------------------------

// Warnings about a test of a client and a server, with more in it.
std::vector<std::string> WarningsOf(const std::string& more) {
  const auto parsed = config::ParseTestSequence(
      absl::StrCat(R"pb(
                     tests { services { name: "client" count: 1 }
                             services { name: "server" count: 1 }
                             rpc_descriptions {
                               name: "ping"
                               client: "client"
                               server: "server"
                             }
                             action_lists { name: "client" action_names: "run" }
                             action_lists { name: "ping" }
                             actions {
                               name: "run"
                               rpc_name: "ping"
                               iterations { max_iteration_count: 1 }
                             }
                   )pb",
                   more, "}"),
      "test");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto checked = config::CheckTestSequence(*parsed);
  EXPECT_TRUE(checked.ok()) << checked.status();
  std::vector<std::string> texts;
  if (!checked.ok()) return texts;
  for (const config::Problem& warning : config::FindWarnings(*checked)) {
    texts.push_back(config::ToString(warning));
  }
  return texts;
}

std::vector<std::string> WarningsOfControls(const std::string& controls) {
  return WarningsOf("controls {" + controls + "}");
}

TEST(ControlsWarningsTest, TellsOfMoreProtectedMemoryThanThereIs) {
  EXPECT_THAT(
      WarningsOfControls(
          "groups { services: 'client' memory_min: '20%' memory_low: '50%' }"
          "groups { services: 'server' memory_low: '51%' }"),
      ElementsAre(HasSubstr("controls.groups: memory_min and memory_low "
                            "protect 101% of a host's memory")));
  EXPECT_THAT(
      WarningsOfControls("groups { services: 'client' memory_low: '50%' }"
                         "groups { services: 'server' memory_low: '50%' }"),
      IsEmpty());
}

TEST(ControlsWarningsTest, TellsOfWeightsThatNothingMayRespect) {
  const std::string group = "groups { services: 'client' io_weight: 10 }";
  EXPECT_THAT(WarningsOfControls(group),
              ElementsAre(HasSubstr("controls.groups[0].io_weight: is "
                                    "respected only by io.cost")));
  EXPECT_THAT(
      WarningsOfControls(group + "io_cost { device: 'sda' enable: true }"),
      IsEmpty());
}

TEST(ControlsWarningsTest, TellsOfBindingsToCpusThatTheGroupLacks) {
  const auto warnings = [](const std::string& cpus) {
    return WarningsOf(
        R"pb(services {
               name: "bound"
               count: 1
               numa_binding { cpus: "0-3" }
             }
             controls { groups { services: "b*" cpuset_cpus: ")pb" +
        cpus + "\" } }");
  };
  EXPECT_THAT(warnings("2-9"),
              Contains(HasSubstr("services[\"bound\"].numa_binding: has CPUs "
                                 "0-1, which cpuset_cpus")));
  EXPECT_THAT(warnings("0-9"), Not(Contains(HasSubstr("cpuset_cpus"))));
}

TEST(ControlsWarningsTest, AntagonistsUseTheirActivities) {
  EXPECT_THAT(
      WarningsOf(R"pb(
        activity_configs {
          name: "burn"
          activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
        }
        experiment { antagonists { name: "hog" activity: "burn" } }
      )pb"),
      IsEmpty());
}

}  // namespace
}  // namespace distbench::protection
