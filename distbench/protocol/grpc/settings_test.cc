// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/settings.h"

#include <cstring>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

std::optional<int> IntArgument(const ChannelArguments& arguments,
                               const char* name) {
  for (const grpc_arg& argument : arguments.AsGrpc()) {
    if (std::strcmp(argument.key, name) != 0) continue;
    if (argument.type == GRPC_ARG_INTEGER) return argument.value.integer;
  }
  return std::nullopt;
}

TEST(GrpcSettingsTest, DefaultsNeitherShareNorRetryNorLimit) {
  const GrpcSettings settings = ReadGrpcSettings({});
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
  const GrpcSettings settings = ReadGrpcSettings(options);
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

TEST(GrpcSettingsTest, EmptyWordsAreDefaults) {
  config::DriverOptions options;
  options.server_settings["threadpool_type"] = std::string("");
  EXPECT_EQ(ReadGrpcSettings(options).pool_kind, HandlerPool::Kind::kElastic);
}

TEST(GrpcSettingsTest, ListensOnAUnixSocketIfToldTo) {
  EXPECT_FALSE(ReadGrpcSettings({}).uses_unix_socket);
  config::DriverOptions options;
  options.server_settings["transport"] = std::string("tcp");
  EXPECT_FALSE(ReadGrpcSettings(options).uses_unix_socket);
  options.server_settings["transport"] = std::string("unix");
  EXPECT_TRUE(ReadGrpcSettings(options).uses_unix_socket);
  EXPECT_TRUE(ReadGrpcStreamSettings(options).uses_unix_socket);
}

TEST(GrpcSettingsTest, OnlyOneDriverHasStreams) {
  config::DriverOptions options;
  options.client_settings["streams"] = int64_t{4};
  options.client_settings["messages_per_stream"] = int64_t{5};
  options.client_settings["send_queue_messages"] = int64_t{6};
  EXPECT_FALSE(ReadGrpcSettings(options).streams.has_value());
  const GrpcSettings settings = ReadGrpcStreamSettings(options);
  ASSERT_TRUE(settings.streams.has_value());
  EXPECT_EQ(settings.streams->streams, 4);
  EXPECT_EQ(settings.streams->messages_per_stream, 5);
  EXPECT_EQ(settings.streams->send_queue_messages, 6);
}

TEST(GrpcSettingsTest, ThreadingModels) {
  const GrpcSettings defaults = ReadGrpcSettings({});
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
  const GrpcSettings settings = ReadGrpcSettings(options);
  EXPECT_EQ(settings.client_type, ClientType::kCallback);
  EXPECT_EQ(settings.server_type, ServerType::kHandoff);
  EXPECT_EQ(settings.pool_kind, HandlerPool::Kind::kSimple);
  EXPECT_EQ(settings.pool_size, 7);
  EXPECT_TRUE(settings.pool_for_all);

  options.server_settings["server_type"] = std::string("polling");
  options.server_settings["threadpool_type"] = std::string("null");
  options.server_settings["threadpool_size"] = int64_t{0};
  options.server_settings["threadpool_use"] = std::string("nonempty");
  const GrpcSettings others = ReadGrpcSettings(options);
  EXPECT_EQ(others.server_type, ServerType::kPolling);
  EXPECT_EQ(others.pool_kind, HandlerPool::Kind::kThreadPerTask);
  EXPECT_EQ(others.pool_size, defaults.pool_size);
  EXPECT_FALSE(others.pool_for_all);
}

TEST(GrpcSettingsTest, TheLongerSpinCounts) {
  config::DriverOptions options;
  options.client_settings["spin_us"] = int64_t{50};
  options.server_settings["spin_us"] = int64_t{20};
  EXPECT_EQ(ReadGrpcSettings(options).spin_ns, 50'000);
}

TEST(GrpcSettingsTest, HasOneChannelUnlessToldOtherwise) {
  EXPECT_EQ(ReadGrpcSettings(config::DriverOptions()).channels, 1);
  config::DriverOptions options;
  options.client_settings["channels"] = int64_t{4};
  EXPECT_EQ(ReadGrpcSettings(options).channels, 4);
}

}  // namespace
}  // namespace distbench::protocol
