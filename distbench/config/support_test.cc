#include "distbench/config/support.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Unsupported(const std::string& text) {
  TestSequence sequence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &sequence));
  std::vector<std::string> lines;
  for (const Problem& problem : UnsupportedFeatures(sequence)) {
    lines.push_back(ToString(problem));
  }
  return lines;
}

TEST(UnsupportedFeatures, LeaveTheCommonCaseAlone) {
  EXPECT_THAT(Unsupported(R"(
    tests {
      services { name: 'a' }
      services { name: 'b' protocol_driver_options_name: 'loop' }
      services { name: 'c' protocol_driver_options_name: 'tuned' }
      protocol_driver_options { name: 'loop' protocol_name: 'loopback' }
      protocol_driver_options {
        name: 'tuned'
        client_settings { name: 'grpc.anything' int64_value: 1 }
        server_settings { name: 'server_type' string_value: 'inline' }
      }
    })"),
              IsEmpty());
}

TEST(UnsupportedFeatures, AreNamedWithTheirPlace) {
  EXPECT_THAT(
      Unsupported(R"(
    tests {}
    tests {
      protocol_driver_options { netdev_name: 'eth0' }
    })"),
      ElementsAre(
          "tests[1].protocol_driver_options: not supported yet: netdev_name"));
}

TEST(UnsupportedFeatures, CoverDriversAndTheirSettings) {
  EXPECT_THAT(
      Unsupported(R"(
    tests {
      services { name: 'a' protocol_driver_options_name: 'tcp' }
      services { name: 'b' protocol_driver_options_name: 'grpc' }
      services { name: 'c' protocol_driver_options_name: 'async' }
      services { name: 'd' protocol_driver_options_name: 'counted' }
      protocol_driver_options { name: 'tcp' protocol_name: 'tcp' }
      protocol_driver_options {
        name: 'grpc'
        server_settings { name: 'threadpool_size' int64_value: 8 }
      }
      protocol_driver_options {
        name: 'async' protocol_name: 'grpc_async_callback'
      }
      protocol_driver_options {
        name: 'counted'
        protocol_name: 'composable_rpc_counter'
        server_settings { name: 'driver_under_test' string_value: 'grpc' }
      }
    })"),
      ElementsAre(
          "tests[0].protocol_driver_options[\"tcp\"]: not supported yet: "
          "driver \"tcp\"",
          "tests[0].protocol_driver_options[\"grpc\"]: not supported yet: "
          "threadpool_size 8 of driver \"grpc\"",
          "tests[0].protocol_driver_options[\"async\"]: not supported yet: "
          "client_type \"callback\" of driver \"grpc\"",
          "tests[0].protocol_driver_options[\"async\"]: not supported yet: "
          "server_type \"handoff\" of driver \"grpc\"",
          "tests[0].protocol_driver_options[\"counted\"]: not supported yet: "
          "driver \"composable_rpc_counter\""));
  EXPECT_THAT(Unsupported("tests { services { name: 'a' } services { name: 'b' "
                          "} default_protocol: 'tcp' }"),
              ElementsAre("tests[0].default_protocol: not supported yet: "
                          "driver \"tcp\""));
}

TEST(UnsupportedFeatures, LeaveWhatIsInvalidToValidation) {
  EXPECT_THAT(Unsupported(R"(
    tests {
      services { name: 'a' protocol_driver_options_name: 'unknown' }
      services { protocol_driver_options_name: 'homa' }
      services { name: 'c' protocol_driver_options_name: 'loop' }
      protocol_driver_options { name: 'homa' protocol_name: 'homa' }
      protocol_driver_options { name: 'loop' protocol_name: 'loop' }
    })"),
              IsEmpty());
}

}  // namespace
}  // namespace distbench
