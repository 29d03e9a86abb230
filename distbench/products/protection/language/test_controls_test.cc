#include "distbench/products/protection/language/test_controls.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/testing/validation_cases.h"
#include "distbench/config/validate/check.h"
#include "distbench/config/validate/warnings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
