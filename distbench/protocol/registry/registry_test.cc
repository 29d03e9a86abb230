#include "distbench/protocol/registry/registry.h"

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

TEST(RegistryTest, DecoratorsMayDecorateDecorators) {
  const DriverOptions counter = {
      .driver = "composable_rpc_counter",
      .decorated = {{.driver = "double_barrel",
                     .decorated = {{.driver = "loopback"}}}}};
  auto driver = MakeProtocolDriver(counter, {});
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_THAT((*driver)->Listen(1).value(), HasSubstr("loopback:"));
}

TEST(RegistryTest, DecoratorsNeedADriverThatThereIs) {
  DriverOptions options;
  options.driver = "double_barrel";
  EXPECT_EQ(MakeProtocolDriver(options, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.decorated.emplace_back().driver = "homa";
  EXPECT_EQ(MakeProtocolDriver(options, {}).status().code(),
            absl::StatusCode::kNotFound);
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
