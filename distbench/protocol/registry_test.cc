#include "distbench/protocol/registry.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RegistryTest, MakesDriversByName) {
  for (const char* name : {"grpc", "tcp", "loopback"}) {
    DriverOptions options;
    options.driver = name;
    EXPECT_TRUE(MakeProtocolDriver(options, {}).ok()) << name;
  }
}

TEST(RegistryTest, UnknownNamesAreToldWhatThereIs) {
  DriverOptions options;
  options.driver = "homa";
  const absl::Status status = MakeProtocolDriver(options, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("\"homa\""), HasSubstr("\"grpc\"")));
}

}  // namespace
}  // namespace distbench
