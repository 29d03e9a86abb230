// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that all servers listen on hosts whose kernel has no IPv6.

#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/listen_address.h"
#include "distbench/client/test_client.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"
#include "tests/control_plane/no_ipv6.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;

TEST(NoIpv6Test, ThereIsNone) {
  EXPECT_FALSE(
      base::FileDescriptor(socket(AF_INET6, SOCK_STREAM, 0)).is_open());
  EXPECT_EQ(errno, EAFNOSUPPORT);
}

TEST(NoIpv6Test, AllInterfacesAreThoseOfIpv4) {
  EXPECT_EQ(base::AllInterfaces(), "0.0.0.0");
  EXPECT_THAT(*base::ListenAddresses("", 0), ElementsAre("0.0.0.0:0"));
  EXPECT_THAT(*base::ListenAddresses("localhost", 0),
              ElementsAre("127.0.0.1:0"));
}

TEST(NoIpv6Test, TheSequencersFrontDoorAndMetrics) {
  sequencer::SequencerOptions options;
  options.port = 0;
  options.metrics_port = 0;
  const auto sequencer = sequencer::SequencerServer::Start(options);
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_TRUE(IsListening((*sequencer)->metrics_port()));
  const auto client = client::TestClient::Connect(
      absl::StrCat("127.0.0.1:", (*sequencer)->port()));
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->GetStatus().ok());
}

TEST(NoIpv6Test, TheNodeManagersServices) {
  Cluster cluster;
  node::NodeManagerOptions options;
  options.port = base::FindFreePort("").value();
  options.metrics_port = 0;
  const node::NodeManager& node = cluster.StartNode(options);
  EXPECT_TRUE(IsListening(options.port));
  EXPECT_TRUE(IsListening(node.metrics_port()));
}

TEST(NoIpv6Test, TheDrivers) {
  for (const char* name : {"grpc", "grpc_stream", "tcp"}) {
    ExpectDriverListens(name);
  }
}

}  // namespace
}  // namespace distbench
