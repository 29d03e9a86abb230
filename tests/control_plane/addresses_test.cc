// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests where sequencers listen, and the errors for bad addresses.

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/client/test_client.h"
#include "distbench/sequencer/serving/sequencer_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

TEST(AddressesTest, APortIsUsedOnce) {
  Cluster cluster;
  sequencer::SequencerOptions options;
  options.port = cluster.sequencer().port();
  for (const char* address : {"", "localhost", "127.0.0.1"}) {
    options.listen_address = address;
    const absl::Status status =
        sequencer::SequencerServer::Start(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
    EXPECT_THAT(base::Message(status), HasSubstr(absl::StrCat(options.port)));
  }
}

TEST(AddressesTest, ClientsSayThatNobodyListens) {
  Cluster cluster;
  cluster.StopSequencer();
  const absl::Status status =
      client::TestClient::Connect(cluster.address()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      base::Message(status),
      HasSubstr(absl::StrCat("nothing listens at ", cluster.address())));
}

TEST(AddressesTest, ClientsSayThatAHostIsNotKnown) {
  const absl::Status status =
      client::TestClient::Connect("no-such-host.invalid:10000").status();
  EXPECT_THAT(base::Message(status), HasSubstr("no-such-host.invalid:10000"));
  EXPECT_FALSE(status.ok());
}

TEST(AddressesTest, ASequencerListensOnAllInterfacesIfNotTold) {
  sequencer::SequencerOptions options;
  options.port = 0;
  const auto sequencer = sequencer::SequencerServer::Start(options);
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_TRUE(client::TestClient::Connect(
                  absl::StrCat("127.0.0.1:", (*sequencer)->port()))
                  .ok());
}

}  // namespace
}  // namespace distbench
