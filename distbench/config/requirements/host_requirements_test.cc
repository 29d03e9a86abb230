// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/requirements/host_requirements.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The problems of requirements, as "path: message".
std::vector<std::string> ProblemsOf(const std::string& text) {
  Problems problems;
  ValidateHostRequirements(Path("r"), base::FromText<HostRequirements>(text),
                           problems);
  std::vector<std::string> lines;
  for (const Problem& problem : std::move(problems).Take()) {
    lines.push_back(ToString(problem));
  }
  return lines;
}

// What a host does not meet of one requirement.
std::vector<std::string> Unmet(const std::string& fact,
                               const std::string& host) {
  return UnmetRequirements(
      base::FromText<HostRequirements>("facts { " + fact + " }"),
      base::FromText<HostFacts>(host));
}

TEST(HostRequirementsTest, EveryFactIsAllowed) {
  EXPECT_THAT(ProblemsOf(R"(
        facts { name: "control_groups" int64_value: 2 }
        facts { name: "controllers" string_value: "cpu,memory" }
        facts { name: "cpu_boost" string_value: "off" }
        facts { name: "cpu_frequency_governor" string_value: "performance" }
        facts { name: "cpu_model" string_value: "EPYC" }
        facts { name: "deepest_idle_state" string_value: "C1" }
        facts { name: "default_queueing_discipline" string_value: "fq" }
        facts { name: "kernel" string_value: "6.1" }
        facts { name: "min_cpus" int64_value: 1 }
        facts { name: "min_memory_bytes" int64_value: 1 }
        facts { name: "mitigations" string_value: "on" }
        facts { name: "smt" string_value: "on" }
        facts { name: "tcp_congestion_control" string_value: "bbr" }
        facts { name: "tcp_ecn_mode" int64_value: 0 }
        facts { name: "transparent_huge_pages" string_value: "never" }
      )"),
              IsEmpty());
}

TEST(HostRequirementsTest, AnUnknownFactNamesTheKnownOnes) {
  EXPECT_THAT(ProblemsOf("facts { name: 'cpu_bost' string_value: 'on' }"),
              ElementsAre(AllOf(HasSubstr("r.facts[\"cpu_bost\"]: "),
                                HasSubstr("did you mean \"cpu_boost\"?"),
                                HasSubstr("\"transparent_huge_pages\""))));
}

TEST(HostRequirementsTest, ImpossibleValuesAreMistakes) {
  EXPECT_THAT(ProblemsOf("facts { name: 'smt' string_value: 'yes' }"),
              ElementsAre(HasSubstr("must be one of \"on\", \"off\"")));
  EXPECT_THAT(ProblemsOf("facts { name: 'smt' int64_value: 1 }"),
              ElementsAre(HasSubstr("give string_value")));
  EXPECT_THAT(ProblemsOf("facts { name: 'tcp_ecn_mode' int64_value: 6 }"),
              ElementsAre(HasSubstr("from 0 to 5")));
  EXPECT_THAT(ProblemsOf("facts { name: 'min_cpus' int64_value: 0 }"),
              ElementsAre(HasSubstr("r.facts[\"min_cpus\"]")));
  EXPECT_THAT(ProblemsOf("facts { name: 'min_memory_bytes' int64_value: 0 }"),
              ElementsAre(HasSubstr("r.facts[\"min_memory_bytes\"]")));
  EXPECT_THAT(ProblemsOf("facts { name: 'kernel' string_value: '' }"),
              ElementsAre(HasSubstr("must not be empty")));
  EXPECT_THAT(ProblemsOf("facts { name: 'kernel' }"),
              ElementsAre(HasSubstr("has no value")));
  EXPECT_THAT(ProblemsOf("facts { name: 'smt' string_value: 'on' }"
                         "facts { name: 'smt' string_value: 'off' }"),
              ElementsAre(HasSubstr("more than once")));
}

TEST(HostRequirementsTest, SaysWhatAHostHasAndWhatTheTestRequires) {
  const std::string fact = "name: 'cpu_boost' string_value: 'off'";
  EXPECT_THAT(Unmet(fact, "is_cpu_boost_enabled: false"), IsEmpty());
  EXPECT_THAT(
      Unmet(fact, "is_cpu_boost_enabled: true"),
      ElementsAre("cpu_boost is \"on\", but the test requires \"off\""));
  EXPECT_THAT(
      Unmet(fact, ""),
      ElementsAre("cpu_boost is not known, but the test requires \"off\""));
}

TEST(HostRequirementsTest, MinimaAreMetByMore) {
  const std::string fact = "name: 'min_cpus' int64_value: 8";
  EXPECT_THAT(Unmet(fact, "cpu_count: 8"), IsEmpty());
  EXPECT_THAT(Unmet(fact, "cpu_count: 10"), IsEmpty());
  EXPECT_THAT(Unmet(fact, "cpu_count: 7"),
              ElementsAre("min_cpus is 7, but the test requires at least 8"));
  EXPECT_THAT(
      Unmet("name: 'min_memory_bytes' int64_value: 1000", "memory_bytes: 999"),
      ElementsAre(HasSubstr("is 999")));
}

TEST(HostRequirementsTest, AKernelIsAVersionAndNotItsDigits) {
  const std::string host = "kernel: 'Linux 6.12.3-amd64 x86_64'";
  for (const std::string met : {"6", "6.12", "6.12.", "6.12.3-amd64"}) {
    EXPECT_THAT(Unmet("name: 'kernel' string_value: '" + met + "'", host),
                IsEmpty());
  }
  for (const std::string unmet : {"6.1", "6.1.", "Linux", "6.12.30"}) {
    EXPECT_THAT(Unmet("name: 'kernel' string_value: '" + unmet + "'", host),
                ElementsAre(HasSubstr("kernel is \"6.12.3-amd64\"")));
  }
  EXPECT_THAT(Unmet("name: 'kernel' string_value: '6'", "kernel: 'Linux'"),
              ElementsAre(HasSubstr("not known")));
}

TEST(HostRequirementsTest, ACpuModelContainsTheText) {
  const std::string host = "cpu_model: 'AMD EPYC 9654 96-Core Processor'";
  EXPECT_THAT(Unmet("name: 'cpu_model' string_value: 'EPYC 9'", host),
              IsEmpty());
  EXPECT_THAT(Unmet("name: 'cpu_model' string_value: 'Xeon'", host),
              ElementsAre(HasSubstr("requires a name that contains \"Xeon\"")));
}

TEST(HostRequirementsTest, TheDeepestIdleStateIsTheLastOneThatIsEnabled) {
  const std::string fact = "name: 'deepest_idle_state' string_value: 'C1'";
  EXPECT_THAT(Unmet(fact, "idle_states: ['POLL', 'C1']"), IsEmpty());
  EXPECT_THAT(Unmet(fact, "idle_states: ['POLL', 'C1', 'C6']"),
              ElementsAre(HasSubstr("is \"C6\"")));
  EXPECT_THAT(Unmet(fact, "idle_driver: 'none'"),
              ElementsAre(HasSubstr("is \"none\"")));
  EXPECT_THAT(Unmet(fact, ""), ElementsAre(HasSubstr("is not known")));
}

TEST(HostRequirementsTest, MitigationsAreOnIfNothingIsVulnerable) {
  const auto entry = [](const std::string& name, const std::string& state) {
    return "mitigations { key: '" + name + "' value: '" + state + "' } ";
  };
  const std::string none = entry("mds", "Not affected");
  const std::string good = entry("spectre_v1", "Mitigation: barriers");
  const std::string bad = entry("retbleed", "Vulnerable");
  const std::string always = entry("l1tf", "Mitigation: PTE Inversion");
  const std::string guests = entry("itlb_multihit", "KVM: Mitigation: VMX off");
  const std::string on = "name: 'mitigations' string_value: 'on'";
  const std::string off = "name: 'mitigations' string_value: 'off'";
  EXPECT_THAT(Unmet(on, none + good), IsEmpty());
  EXPECT_THAT(Unmet(off, none + good), ElementsAre(HasSubstr("is \"on\"")));
  EXPECT_THAT(Unmet(off, none + bad + always + guests), IsEmpty());
  EXPECT_THAT(Unmet(on, none + bad), ElementsAre(HasSubstr("is \"off\"")));
  EXPECT_THAT(Unmet(on, good + bad), ElementsAre(HasSubstr("is \"partial\"")));
  EXPECT_THAT(Unmet(off, good + bad), ElementsAre(HasSubstr("is \"partial\"")));
  EXPECT_THAT(Unmet(on, ""), ElementsAre(HasSubstr("is not known")));
}

TEST(HostRequirementsTest, OtherFactsAreComparedAsTheyAre) {
  const std::string host = R"(
    cpu_frequency_governor: "powersave"
    default_queueing_discipline: "fq"
    is_smt_active: true
    tcp_congestion_control: "cubic"
    tcp_ecn_mode: 2
    transparent_huge_pages: "always"
  )";
  for (const std::string fact :
       {"name: 'cpu_frequency_governor' string_value: 'powersave'",
        "name: 'default_queueing_discipline' string_value: 'fq'",
        "name: 'smt' string_value: 'on'",
        "name: 'tcp_congestion_control' string_value: 'cubic'",
        "name: 'tcp_ecn_mode' int64_value: 2",
        "name: 'transparent_huge_pages' string_value: 'always'"}) {
    EXPECT_THAT(Unmet(fact, host), IsEmpty()) << fact;
    EXPECT_THAT(Unmet(fact, ""), ElementsAre(HasSubstr("is not known")));
  }
  EXPECT_THAT(Unmet("name: 'tcp_ecn_mode' int64_value: 1", host),
              ElementsAre("tcp_ecn_mode is 2, but the test requires 1"));
  EXPECT_THAT(Unmet("name: 'tcp_congestion_control' string_value: 'cub'", host),
              ElementsAre(HasSubstr("is \"cubic\"")));
}

TEST(HostRequirementsTest, ControllersAreAllOfThoseThatAreNamed) {
  const std::string host =
      "control_groups { version: 2 controllers: ['cpu', 'cpuset', 'io'] }";
  for (const std::string met : {"io", "io,cpu", "cpu, cpuset"}) {
    EXPECT_THAT(Unmet("name: 'controllers' string_value: '" + met + "'", host),
                IsEmpty())
        << met;
  }
  EXPECT_THAT(
      Unmet("name: 'controllers' string_value: 'cpu,memory'", host),
      ElementsAre("controllers is \"cpu,cpuset,io\", but the test requires "
                  "all of \"cpu,memory\""));
  EXPECT_THAT(Unmet("name: 'controllers' string_value: 'cpu'",
                    "control_groups { version: 1 }"),
              ElementsAre(HasSubstr("controllers is \"\"")));
  EXPECT_THAT(Unmet("name: 'controllers' string_value: 'cpu'", ""),
              ElementsAre(HasSubstr("is not known")));
}

TEST(HostRequirementsTest, TheVersionOfControlGroupsIsExact) {
  const std::string fact = "name: 'control_groups' int64_value: 2";
  EXPECT_THAT(Unmet(fact, "control_groups { version: 2 }"), IsEmpty());
  EXPECT_THAT(Unmet(fact, "control_groups { version: 1 }"),
              ElementsAre("control_groups is 1, but the test requires 2"));
}

TEST(HostRequirementsTest, AnUnknownFactIsNotMet) {
  EXPECT_THAT(Unmet("name: 'colour' string_value: 'red'", ""),
              ElementsAre("\"colour\" is not a fact about hosts"));
}

}  // namespace
}  // namespace distbench::config
