// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What simulations add to each kind of report.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "distbench/report/terminal/terminal_view.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/text/text_summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TestResult Simulated(const std::string& facts) {
  return report::ResultFromText("simulation { " + facts + " }");
}

std::string OpeningOf(const std::string& facts) {
  return report::SummarizeTest(Simulated(facts))[0];
}

// The line of the summary's section; empty if there is none.
std::string LineOf(const TestResult& result, const std::string& subject) {
  for (const std::string& line : report::SummarizeTest(result)) {
    if (absl::StartsWith(line, "  " + subject + ": ")) return line;
  }
  return "";
}

TEST(AssumptionsTest, TheSentenceNamesHostsAndNetwork) {
  EXPECT_EQ(
      OpeningOf("host_count: 100 fabric { host { cpus: 4 } leaf_spine {} }"),
      "Simulated, not measured: 100 hosts of 4 CPUs, leaf-spine network");
  EXPECT_EQ(OpeningOf("host_count: 1 fabric { host { cpus: 1 } }"),
            "Simulated, not measured: 1 host of 1 CPU, single switch");
}

TEST(AssumptionsTest, AssumptionsAreThoseOfTheFabric) {
  const TestResult result = Simulated(R"pb(
    host_count: 2
    fabric {
      host {
        cpus: 8
        scheduler: FIFO
        stalls_per_second: 10
        mean_stall_ns: 1e6
        slow_share: 0.01
        slowness: 5
      }
      single_switch { host_link { gbps: 10 delay_ns: 1500 } }
      stacks {
        driver: "tcp"
        client_send { fixed_ns: 1000 ns_per_byte: 0.5 fixed_error_ns: 30 }
        server_send { fixed_ns: 700 batch_ns: 4000 after_ns: 900 }
        wakeup_ns: 20000
        wakeup_cpu_ns: 8000
        wakeup_cpu_error_ns: 600
        source: "a run of host7"
      }
      activities { activity: "ConsumeCpu" cpu_ns: 5000 }
    }
  )pb");
  EXPECT_EQ(LineOf(result, "hosts"),
            "  hosts: 2 hosts, 0 of them slow: cpus: 8 scheduler: FIFO "
            "stalls_per_second: 10 mean_stall_ns: 1000000 slow_share: 0.01 "
            "slowness: 5");
  EXPECT_EQ(LineOf(result, "network"),
            "  network: single switch: host_link { gbps: 10 delay_ns: 1500 }");
  EXPECT_EQ(LineOf(result, "costs of tcp"),
            "  costs of tcp: client_send { fixed_ns: 1000 ns_per_byte: 0.5 "
            "fixed_error_ns: 30 } server_send { fixed_ns: 700 batch_ns: 4000 "
            "after_ns: 900 } wakeup_ns: 20000 source: \"a run of host7\" "
            "wakeup_cpu_ns: 8000 wakeup_cpu_error_ns: 600");
  EXPECT_EQ(LineOf(result, "costs of ConsumeCpu"),
            "  costs of ConsumeCpu: cpu_ns: 5000");
}

TEST(AssumptionsTest, SlowHostsAreCounted) {
  EXPECT_THAT(LineOf(Simulated("host_count: 1000 fabric { host { "
                               "slow_share: 0.015 slowness: 3 } }"),
                     "hosts"),
              HasSubstr("1000 hosts, 15 of them slow: "));
}

using JudgeTest = report::JudgeTest;

TEST_F(JudgeTest, ASimulationWithinTheValidationIsNoFinding) {
  result_.mutable_simulation()->set_host_count(2);
  ExpectNothing();
}

TEST_F(JudgeTest, WhyASimulationMayBeFarOff) {
  result_.mutable_simulation()->add_outside_of_validation("more than 40 hosts");
  EXPECT_THAT(ExpectOne(Finding::WARN, "simulation"),
              HasSubstr("validated: more than 40 hosts."));
}

TEST_F(JudgeTest, SimulatedHostsHaveNoControlsAndRequirements) {
  DistributedSystemDescription& test = *result_.mutable_traffic_config();
  test.mutable_controls()->add_groups();
  test.mutable_requirements()->add_facts();
  EXPECT_FALSE(Find("simulation").has_code());
  result_.mutable_simulation();
  EXPECT_THAT(Find("simulation").message(),
              HasSubstr("by requirements, controls"));
}

TEST(SimulationSectionsTest, ASimulationSaysSoFirstAndWhatItAssumed) {
  const TestResult result = report::ResultFromText(R"pb(
    run_info { failure: "cancelled" }
    simulation {
      host_count: 3
      fabric { stacks { driver: "tcp" source: "two\nlines" } }
      event_count: 12
      simulated_seconds: 1.5
    }
  )pb");
  const std::vector<std::string> lines = report::SummarizeTest(result);
  EXPECT_THAT(lines[0], HasSubstr("Simulated, not measured: 3 hosts"));
  EXPECT_THAT(lines[1], HasSubstr("The test failed"));
  EXPECT_THAT(lines, Contains("Simulation:"));
  EXPECT_THAT(lines, Contains(HasSubstr("source: \"two\\nlines\"")));
  EXPECT_THAT(lines,
              Contains("  extent: 12 events in 1.5 s of simulated time"));
  EXPECT_THAT(report::SummarizeTest(TestResult()),
              Not(Contains("Simulation:")));
}

TEST(SimulationSectionsTest, TerminalsShowWhatWasSimulated) {
  TestResult result;
  result.mutable_traffic_config()->set_name("two_tiers");
  result.mutable_simulation()->set_host_count(40);
  result.mutable_simulation()->mutable_fabric()->mutable_host()->set_cpus(2);
  EXPECT_THAT(report::TerminalView(result, {.terminal = {.columns = 100}}),
              HasSubstr("\n  Simulated, not measured: 40 hosts of 2 CPUs, "
                        "single switch\n"));
}

}  // namespace
}  // namespace distbench::simulation
