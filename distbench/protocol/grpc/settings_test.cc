#include "distbench/protocol/grpc/settings.h"

#include <cstring>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::optional<int> IntArgument(const ChannelArguments& arguments,
                               const char* name) {
  for (const grpc_arg& argument : arguments.AsGrpc()) {
    if (std::strcmp(argument.key, name) != 0) continue;
    if (argument.type == GRPC_ARG_INTEGER) return argument.value.integer;
  }
  return std::nullopt;
}

std::string ErrorOf(const config::DriverOptions& options) {
  return std::string(ParseGrpcSettings(options).status().message());
}

TEST(GrpcSettingsTest, DefaultsNeitherShareNorRetryNorLimit) {
  const GrpcSettings settings = ParseGrpcSettings({}).value();
  EXPECT_EQ(settings.spin_ns, 0);
  EXPECT_EQ(IntArgument(settings.client, "grpc.use_local_subchannel_pool"), 1);
  EXPECT_EQ(IntArgument(settings.client, "grpc.enable_retries"), 0);
  EXPECT_EQ(IntArgument(settings.client, "grpc.max_receive_message_length"),
            -1);
  EXPECT_EQ(IntArgument(settings.server, "grpc.max_receive_message_length"),
            -1);
}

TEST(GrpcSettingsTest, ChannelArgumentsPassThroughAndWin) {
  config::DriverOptions options;
  options.client_settings["grpc.enable_retries"] = int64_t{1};
  options.client_settings["grpc.lb_policy_name"] = std::string("round_robin");
  options.server_settings["grpc.http2.max_frame_size"] = int64_t{65536};
  const GrpcSettings settings = ParseGrpcSettings(options).value();
  EXPECT_EQ(IntArgument(settings.client, "grpc.enable_retries"), 1);
  EXPECT_EQ(IntArgument(settings.server, "grpc.http2.max_frame_size"), 65536);
  bool found = false;
  for (const grpc_arg& argument : settings.client.AsGrpc()) {
    if (std::strcmp(argument.key, "grpc.lb_policy_name") != 0) continue;
    found = true;
    ASSERT_EQ(argument.type, GRPC_ARG_STRING);
    EXPECT_STREQ(argument.value.string, "round_robin");
  }
  EXPECT_TRUE(found);
}

TEST(GrpcSettingsTest, AcceptsWhatTheDefaultModesAreCalled) {
  config::DriverOptions options;
  options.client_settings["client_type"] = std::string("polling");
  options.server_settings["server_type"] = std::string("inline");
  options.server_settings["threadpool_size"] = int64_t{0};
  options.server_settings["threadpool_type"] = std::string("");
  options.server_settings["transport"] = std::string("tcp");
  EXPECT_TRUE(ParseGrpcSettings(options).ok());
}

TEST(GrpcSettingsTest, ThreadingModels) {
  const GrpcSettings defaults = ParseGrpcSettings({}).value();
  EXPECT_EQ(defaults.client_type, ClientType::kPolling);
  EXPECT_EQ(defaults.server_type, ServerType::kInline);
  EXPECT_EQ(defaults.pool_kind, HandlerPool::Kind::kElastic);
  EXPECT_GE(defaults.pool_size, 1);
  EXPECT_FALSE(defaults.pool_for_all);

  config::DriverOptions options;
  options.client_settings["client_type"] = std::string("callback");
  options.server_settings["server_type"] = std::string("handoff");
  options.server_settings["threadpool_type"] = std::string("simple");
  options.server_settings["threadpool_size"] = int64_t{7};
  options.server_settings["threadpool_use"] = std::string("all");
  const GrpcSettings settings = ParseGrpcSettings(options).value();
  EXPECT_EQ(settings.client_type, ClientType::kCallback);
  EXPECT_EQ(settings.server_type, ServerType::kHandoff);
  EXPECT_EQ(settings.pool_kind, HandlerPool::Kind::kSimple);
  EXPECT_EQ(settings.pool_size, 7);
  EXPECT_TRUE(settings.pool_for_all);

  options.server_settings["server_type"] = std::string("polling");
  options.server_settings["threadpool_type"] = std::string("null");
  options.server_settings["threadpool_size"] = int64_t{0};
  options.server_settings["threadpool_use"] = std::string("nonempty");
  const GrpcSettings others = ParseGrpcSettings(options).value();
  EXPECT_EQ(others.server_type, ServerType::kPolling);
  EXPECT_EQ(others.pool_kind, HandlerPool::Kind::kThreadPerTask);
  EXPECT_EQ(others.pool_size, defaults.pool_size);
  EXPECT_FALSE(others.pool_for_all);
}

TEST(GrpcSettingsTest, TheLongerSpinCounts) {
  config::DriverOptions options;
  options.client_settings["spin_us"] = int64_t{50};
  options.server_settings["spin_us"] = int64_t{20};
  EXPECT_EQ(ParseGrpcSettings(options)->spin_ns, 50'000);
}

TEST(GrpcSettingsTest, HasOneChannelUnlessToldOtherwise) {
  EXPECT_EQ(ParseGrpcSettings(config::DriverOptions())->channels, 1);
  config::DriverOptions options;
  options.client_settings["channels"] = int64_t{4};
  EXPECT_EQ(ParseGrpcSettings(options)->channels, 4);
  options.client_settings["channels"] = int64_t{0};
  EXPECT_THAT(ErrorOf(options), HasSubstr("from 1 to 1024"));
}

TEST(GrpcSettingsTest, ErrorsNameTheSettingAndWhatIsRight) {
  config::DriverOptions unknown;
  unknown.server_settings["serverr_type"] = std::string("inline");
  EXPECT_THAT(ErrorOf(unknown),
              AllOf(HasSubstr("server setting \"serverr_type\""),
                    HasSubstr("server_type"), HasSubstr("grpc.*")));

  config::DriverOptions client;
  client.client_settings["server_type"] = std::string("inline");
  EXPECT_THAT(ErrorOf(client), HasSubstr("client setting \"server_type\""));

  config::DriverOptions value;
  value.client_settings["client_type"] = std::string("turbo");
  EXPECT_THAT(ErrorOf(value), AllOf(HasSubstr("\"turbo\""),
                                    HasSubstr("\"polling\", \"callback\"")));

  config::DriverOptions pool;
  pool.server_settings["threadpool_size"] = int64_t{10'001};
  EXPECT_THAT(ErrorOf(pool), HasSubstr("from 0 to 10000 (threads)"));

  config::DriverOptions kind;
  kind.client_settings["client_type"] = int64_t{1};
  EXPECT_THAT(ErrorOf(kind), HasSubstr("string_value"));

  config::DriverOptions spin;
  spin.client_settings["spin_us"] = int64_t{-1};
  EXPECT_THAT(ErrorOf(spin), HasSubstr("from 0 to 1000000"));

  config::DriverOptions large;
  large.client_settings["grpc.x"] = int64_t{1} << 40;
  EXPECT_THAT(ErrorOf(large), HasSubstr("32 bits"));
}

}  // namespace
}  // namespace distbench::protocol
