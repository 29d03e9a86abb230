// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/protocols/protocol.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/protocols/testing/protocol_testing.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;

TEST(RegistryTest, HasTheProtocols) {
  EXPECT_THAT(
      ProtocolNames(),
      ElementsAre("grpc", "grpc_stream", "tcp", "loopback", "homa", "mercury",
                  "double_barrel", "composable_rpc_counter"));
  EXPECT_EQ(FindProtocol("gRPC"), nullptr);
}

TEST(GrpcTest, IsPollingAndInlineByDefault) {
  const ProtocolSetup setup = MakeSetup("grpc", {});
  EXPECT_EQ(setup.alias, "grpc_polling_inline");
  ExpectOptions(setup, R"pb(
    server_settings { name: "server_type" string_value: "inline" }
    client_settings { name: "client_type" string_value: "polling" }
  )pb");
}

TEST(GrpcTest, NamesItsPool) {
  const ProtocolSetup setup = MakeSetup("grpc", {{"client_type", "callback"},
                                                 {"server_type", "handoff"},
                                                 {"threadpool_type", "simple"},
                                                 {"threadpool_size", "4"},
                                                 {"ip_version", "6"}});
  EXPECT_EQ(setup.alias, "grpc_callback_handoff_ipv6_simple_4");
  ExpectOptions(setup, R"pb(
    server_settings { name: "server_type" string_value: "handoff" }
    server_settings { name: "threadpool_type" string_value: "simple" }
    server_settings { name: "threadpool_size" int64_value: 4 }
    client_settings { name: "client_type" string_value: "callback" }
  )pb");
}

TEST(GrpcTest, AnInlineServerHasNoPool) {
  const ProtocolSetup setup = MakeSetup(
      "grpc", {{"threadpool_type", "simple"}, {"threadpool_size", "4"}});
  EXPECT_EQ(setup.alias, "grpc_polling_inline");
  EXPECT_EQ(setup.options.server_settings_size(), 1);
}

TEST(GrpcTest, NamesItsTransportAndSpinning) {
  const ProtocolSetup setup =
      MakeSetup("grpc", {{"transport", "homa"}, {"spin_us", "50"}});
  EXPECT_EQ(setup.alias, "grpc_polling_inline_homa_spin50");
  ExpectOptions(setup, R"pb(
    server_settings { name: "server_type" string_value: "inline" }
    server_settings { name: "transport" string_value: "homa" }
    server_settings { name: "spin_us" int64_value: 50 }
    client_settings { name: "client_type" string_value: "polling" }
  )pb");
}

TEST(GrpcTest, NamesItsChannels) {
  const ProtocolSetup setup = MakeSetup("grpc", {{"channels", "4"}});
  EXPECT_EQ(setup.alias, "grpc_polling_inline_chan4");
  ExpectOptions(setup, R"pb(
    server_settings { name: "server_type" string_value: "inline" }
    client_settings { name: "client_type" string_value: "polling" }
    client_settings { name: "channels" int64_value: 4 }
  )pb");
}

TEST(HomaTest, SetsItsThreads) {
  const ProtocolSetup setup = MakeSetup("homa", {{"server_threads", "3"},
                                                 {"client_threads", "2"},
                                                 {"threadpool_size", "5"},
                                                 {"threadpool_type", "elastic"},
                                                 {"ip_version", "4"}});
  EXPECT_EQ(setup.alias, "homa_nocopy_ipv4_3x2x5_elastic");
  ExpectOptions(setup, R"pb(
    server_settings { name: "client_threads" int64_value: 2 }
    server_settings { name: "server_threads" int64_value: 3 }
    server_settings { name: "nocopy" int64_value: 1 }
    server_settings { name: "ping_pong" int64_value: 0 }
    server_settings { name: "threadpool_type" string_value: "elastic" }
    server_settings { name: "threadpool_size" int64_value: 5 }
  )pb");
}

TEST(HomaTest, NamesItsMode) {
  EXPECT_EQ(MakeSetup("homa", {}).alias, "homa_nocopy_1x1x0");
  EXPECT_EQ(MakeSetup("homa", {{"nocopy", "0"}}).alias, "homa_1x1x0");
  EXPECT_EQ(MakeSetup("homa", {{"ping_pong", "1"}}).alias,
            "homa_pingpong_1x1x0");
}

TEST(MercuryTest, SetsItsTransport) {
  const ProtocolSetup setup = MakeSetup(
      "mercury", {{"transport", "ofi+verbs"}, {"threadpool_size", "2"}});
  EXPECT_EQ(setup.alias, "mercury_ofi+verbs_2");
  ExpectOptions(setup, R"pb(
    server_settings { name: "hg_init_info_string" string_value: "ofi+verbs" }
    server_settings { name: "threadpool_size" int64_value: 2 }
  )pb");
  ExpectOptions(MakeSetup("mercury", {{"transport", "custom_transport"}}), R"pb(
    server_settings {
      name: "hg_init_info_string"
      string_value: "custom_transport"
    }
  )pb");
  ExpectOptions(MakeSetup("mercury", {}), R"pb(
    server_settings {
      name: "hg_init_info_string"
      string_value: "ofi+tcp://__SERVER_IP__"
    }
  )pb");
}

TEST(PlainDriversTest, NeedNoSettings) {
  EXPECT_EQ(MakeSetup("tcp", {}).alias, "tcp");
  EXPECT_EQ(MakeSetup("tcp", {{"ip_version", "6"}}).alias, "tcp_ipv6");
  EXPECT_EQ(MakeSetup("loopback", {}).alias, "loopback");
  ExpectOptions(MakeSetup("tcp", {}), "");
}

TEST(PlainDriversTest, NameTheEngineThatHostsThem) {
  const ProtocolSetup setup =
      MakeSetup("tcp", {{"engine", "new"}, {"ip_version", "4"}});
  EXPECT_EQ(setup.alias, "tcp_ipv4_new");
  ExpectOptions(setup, "engine: 'new'");
  EXPECT_EQ(MakeSetup("tcp", {{"engine", "own"}}).alias, "tcp");
  ExpectOptions(MakeSetup("tcp", {{"engine", "own"}}), "");
}

TEST(PlainDriversTest, GrpcStreamNamesWhatIsSet) {
  EXPECT_EQ(MakeSetup("grpc_stream", {}).alias, "grpc_stream");
  const ProtocolSetup setup = MakeSetup(
      "grpc_stream",
      {{"transport", "unix"}, {"streams", "4"}, {"messages_per_stream", "9"}});
  EXPECT_EQ(setup.alias, "grpc_stream_unix_streams4_messages9");
  ExpectOptions(setup, R"pb(
    server_settings { name: "transport" string_value: "unix" }
    client_settings { name: "streams" int64_value: 4 }
    client_settings { name: "messages_per_stream" int64_value: 9 }
  )pb");
}

TEST(PlainDriversTest, CallsOfAConnectionCanBeLimited) {
  for (const char* name : {"grpc", "tcp"}) {
    const ProtocolSetup setup =
        MakeSetup(name, {{"calls_per_connection", "1"}});
    EXPECT_TRUE(setup.alias.ends_with("_calls1")) << setup.alias;
    const NamedSetting& last = *setup.options.client_settings().rbegin();
    EXPECT_EQ(last.name(), "calls_per_connection") << name;
    EXPECT_EQ(last.int64_value(), 1) << name;
  }
}

TEST(PlainDriversTest, TcpNamesWhatIsSet) {
  const ProtocolSetup setup = MakeSetup(
      "tcp", {{"connections", "4"}, {"max_batch", "1"}, {"spin_us", "50"}});
  EXPECT_EQ(setup.alias, "tcp_conn4_batch1_spin50");
  ExpectOptions(setup, R"pb(
    client_settings { name: "connections" int64_value: 4 }
    client_settings { name: "max_batch" int64_value: 1 }
    server_settings { name: "max_batch" int64_value: 1 }
    server_settings { name: "spin_us" int64_value: 50 }
  )pb");
}

TEST(PlainDriversTest, NetworkSettingsOfTcpAreThoseOfBothSides) {
  const ProtocolSetup setup =
      MakeSetup("tcp", {{"congestion_control", "bbr"}, {"dscp", "46"}});
  EXPECT_EQ(setup.alias, "tcp_bbr_dscp46");
  ExpectOptions(setup, R"pb(
    client_settings { name: "congestion_control" string_value: "bbr" }
    server_settings { name: "congestion_control" string_value: "bbr" }
    client_settings { name: "dscp" int64_value: 46 }
    server_settings { name: "dscp" int64_value: 46 }
  )pb");
}

TEST(DecoratorsTest, NameTheDriverThatDoesTheWork) {
  const ProtocolSetup barrel =
      MakeSetup("double_barrel", {{"next_protocol_driver", "tcp"}});
  EXPECT_EQ(barrel.alias, "double_barrel_tcp");
  ExpectOptions(barrel, R"pb(
    server_settings { name: "next_protocol_driver" string_value: "tcp" }
  )pb");
  const ProtocolSetup counter = MakeSetup("composable_rpc_counter", {});
  EXPECT_EQ(counter.alias, "composable_rpc_counter_grpc");
  ExpectOptions(counter, R"pb(
    server_settings { name: "driver_under_test" string_value: "grpc" }
  )pb");
}

}  // namespace
}  // namespace distbench::test_builder
