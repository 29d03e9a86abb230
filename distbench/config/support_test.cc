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
      services { name: 'd' protocol_driver_options_name: 'async' }
      services { name: 'e' protocol_driver_options_name: 'doubled' }
      services { name: 'f' protocol_driver_options_name: 'tcp' }
      protocol_driver_options { name: 'tcp' protocol_name: 'tcp' }
      protocol_driver_options { name: 'loop' protocol_name: 'loopback' }
      protocol_driver_options {
        name: 'async' protocol_name: 'grpc_async_callback'
      }
      protocol_driver_options {
        name: 'doubled'
        protocol_name: 'double_barrel'
        server_settings { name: 'next_protocol_driver' string_value: 'grpc' }
      }
      protocol_driver_options {
        name: 'tuned'
        client_settings { name: 'grpc.anything' int64_value: 1 }
        server_settings { name: 'server_type' string_value: 'polling' }
        server_settings { name: 'threadpool_size' int64_value: 8 }
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

}  // namespace
}  // namespace distbench
