// What simulations add to each kind of report.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distbench/report/json/json.h"
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
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST(SimulationSectionsTest, PacketsOfSimulationsAreCounted) {
  const auto network_of = [](const std::string& facts) {
    const Json document =
        Json::parse(report::RenderJson(report::InputOf(report::Sourced(
            {report::ResultFromText("simulation { " + facts + " }")}))));
    return document["tests"][0]["simulation"].at("network");
  };
  EXPECT_TRUE(network_of("").is_null());
  EXPECT_EQ(network_of("network { packets: 9 dropped: 1 timeouts: 2 }"),
            Json({{"packets", 9},
                  {"dropped", 1},
                  {"marked", 0},
                  {"retransmissions", 0},
                  {"timeouts", 2}}));
}

TEST(SimulationSectionsTest, ASimulationSaysSoFirstAndWhatItAssumed) {
  const TestResult result = report::ResultFromText(R"pb(
    run_info { failure: "cancelled" }
    simulation {
      host_count: 3
      fabric { stacks { driver: "tcp" source: "two\nlines" } }
      event_count: 12
      simulated_seconds: 1.5
      network { packets: 9 timeouts: 2 }
    }
  )pb");
  const std::vector<std::string> lines = report::SummarizeTest(result);
  EXPECT_THAT(lines[0], HasSubstr("Simulated, not measured: 3 hosts"));
  EXPECT_THAT(lines[1], HasSubstr("The test failed"));
  EXPECT_THAT(lines, Contains("Simulation:"));
  EXPECT_THAT(lines, Contains(HasSubstr("Source: two lines")));
  EXPECT_THAT(lines,
              Contains("  extent: 12 events in 1.5 s of simulated time"));
  EXPECT_THAT(lines, Contains(HasSubstr("  sent: 9 packets, 0 dropped")));
  EXPECT_THAT(report::SummarizeTest(TestResult()),
              Not(Contains("Simulation:")));
}

TEST(SimulationSectionsTest, TerminalsShowWhatWasSimulated) {
  TestResult result;
  result.mutable_traffic_config()->set_name("two_tiers");
  result.mutable_simulation()->set_host_count(40);
  result.mutable_simulation()->mutable_fabric()->mutable_host()->set_cpus(2);
  EXPECT_THAT(report::TerminalView(result, {.style = {.columns = 100}}),
              HasSubstr("\n  Simulated, not measured: 40 hosts of 2 CPUs, "
                        "single switch, whole messages\n"));
}

}  // namespace
}  // namespace distbench::simulation
