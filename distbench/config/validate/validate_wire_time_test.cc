// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "distbench/config/problems/problem.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BadWireTime : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadWireTime, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

#define OVER_TCP(rest) "default_protocol: 'tcp' measure_wire_time { " rest " }"

INSTANTIATE_TEST_SUITE_P(
    Rules, BadWireTime,
    ::testing::Values(
        ValidationCase{"NoShare", "", OVER_TCP("share: 0"),
                       "measure_wire_time.share",
                       "must be above 0 and at most 1"},
        ValidationCase{"MoreThanAll", "", OVER_TCP("share: 1.5"),
                       "measure_wire_time.share",
                       "must be above 0 and at most 1"},
        ValidationCase{"UnknownClock", "", OVER_TCP("clock: 'ptp'"),
                       "measure_wire_time.clock",
                       "\"ptp\" is no clock of the wire; must be \"software\" "
                       "or \"hardware\""},
        ValidationCase{
            "OneClientOfAnotherDriver", "services { name: 'grid'",
            OVER_TCP("") " services { name: 'grid' "
                         "protocol_driver_options_name: 'fast'",
            "measure_wire_time",
            "driver \"grpc\" of service \"grid\" takes no time stamps of the "
            "wire; drivers that do: \"tcp\""}),
    [](const auto& info) { return std::string(info.param.rule); });

TEST(WireTimeValidationTest, DriversOverTcpConnectionsCan) {
  EXPECT_THAT(ProblemsAfter("", OVER_TCP("")), IsEmpty());
  EXPECT_THAT(ProblemsAfter("", OVER_TCP("share: 0.01 clock: 'hardware'")),
              IsEmpty());
}

TEST(WireTimeValidationTest, SoCanDecoratorsOfThem) {
  EXPECT_THAT(ProblemsAfter("", R"(
                protocol_driver_options {
                  name: 'default_protocol_driver_options'
                  protocol_name: 'double_barrel'
                  server_settings {
                    name: 'next_protocol_driver' string_value: 'tcp'
                  }
                }
                measure_wire_time {})"),
              IsEmpty());
}

// Each client once.
TEST(WireTimeValidationTest, OtherDriversAreNamed) {
  for (const char* driver : {"grpc", "grpc_stream", "loopback"}) {
    const std::vector<Problem> problems =
        ProblemsAfter("", "measure_wire_time {} default_protocol: '" +
                              std::string(driver) + "'");
    ASSERT_EQ(problems.size(), 2u) << driver;
    EXPECT_EQ(problems[0].path, "tests[0].measure_wire_time");
    EXPECT_THAT(problems[0].message,
                AllOf(HasSubstr(driver), HasSubstr("\"client\""),
                      HasSubstr("takes no time stamps of the wire")));
    EXPECT_THAT(problems[1].message, HasSubstr("\"grid\""));
  }
}

TEST(WireTimeValidationTest, UnixSocketsAreNamed) {
  const std::vector<Problem> problems = ProblemsAfter("", R"(
    protocol_driver_options {
      name: 'default_protocol_driver_options' protocol_name: 'tcp'
      server_settings { name: 'transport' string_value: 'unix' }
    }
    measure_wire_time {})");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[1].message,
              HasSubstr("service \"server\" is reached over Unix sockets"));
}

}  // namespace
}  // namespace distbench::config
