// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/greeting.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using Side = Greeting::Side;

// Passes on the output of one side, in pieces, as far as the other side takes
// it.
StreamError Pass(Greeting& from, Greeting& to, size_t piece_bytes) {
  std::string bytes = from.TakeOutput();
  while (!bytes.empty()) {
    const size_t count =
        std::min({piece_bytes, bytes.size(), to.missing_bytes()});
    if (count == 0) return StreamError::kMalformedMessage;
    const StreamError error = to.Receive(bytes.substr(0, count));
    if (error != StreamError::kNone) return error;
    bytes.erase(0, count);
  }
  return StreamError::kNone;
}

TEST(GreetingTest, SidesOfOneTestUnderstandEachOther) {
  for (size_t piece_bytes : {1, 7, 32, 1000}) {
    Greeting client(Side::kClient, "nonce");
    Greeting server(Side::kServer, "nonce");
    EXPECT_EQ(Pass(client, server, piece_bytes), StreamError::kNone);
    EXPECT_EQ(server.missing_bytes(), security::kProofBytes);
    EXPECT_EQ(Pass(server, client, piece_bytes), StreamError::kNone);
    EXPECT_EQ(client.missing_bytes(), 0);
    EXPECT_EQ(Pass(client, server, piece_bytes), StreamError::kNone);
    EXPECT_EQ(server.missing_bytes(), 0);
    EXPECT_EQ(client.TakeOutput() + server.TakeOutput(), "");
  }
}

TEST(GreetingTest, TheClientRefusesAServerOfAnotherTest) {
  Greeting client(Side::kClient, "nonce");
  Greeting server(Side::kServer, "another");
  EXPECT_EQ(Pass(client, server, 1000), StreamError::kNone);
  EXPECT_EQ(Pass(server, client, 1000), StreamError::kOtherTest);
  EXPECT_EQ(client.TakeOutput(), "");
}

TEST(GreetingTest, TheServerRefusesAClientOfAnotherTest) {
  Greeting client(Side::kClient, "nonce");
  Greeting server(Side::kServer, "nonce");
  EXPECT_EQ(Pass(client, server, 1000), StreamError::kNone);
  EXPECT_EQ(server.Receive(std::string(security::kProofBytes, 'x')),
            StreamError::kOtherTest);
}

TEST(GreetingTest, WhatWasSaidBeforeProvesNothing) {
  Greeting client(Side::kClient, "nonce");
  Greeting server(Side::kServer, "nonce");
  ASSERT_EQ(Pass(client, server, 1000), StreamError::kNone);
  const std::string answer = server.TakeOutput();
  ASSERT_EQ(client.Receive(answer), StreamError::kNone);
  const std::string proof = client.TakeOutput();

  Greeting later_client(Side::kClient, "nonce");
  EXPECT_EQ(later_client.Receive(answer), StreamError::kOtherTest);
  Greeting later_server(Side::kServer, "nonce");
  ASSERT_EQ(Pass(later_client, later_server, 1000), StreamError::kNone);
  EXPECT_EQ(later_server.Receive(proof), StreamError::kOtherTest);
}

// A client does not accept an echo of its own bytes.
TEST(GreetingTest, AMirrorProvesNothing) {
  Greeting client(Side::kClient, "nonce");
  std::string mirrored = client.TakeOutput();
  mirrored += security::ProveNonce("", mirrored);
  EXPECT_EQ(client.Receive(mirrored), StreamError::kOtherTest);
}

TEST(GreetingTest, StrangersAreNoticedByTheirFirstBytes) {
  Greeting client(Side::kClient, "nonce");
  EXPECT_EQ(client.Receive("HTTP/"), StreamError::kNoHello);
  Greeting server(Side::kServer, "nonce");
  EXPECT_EQ(server.Receive("GET /"), StreamError::kNoHello);
  EXPECT_EQ(server.TakeOutput(), "");
}

TEST(GreetingTest, ClientsOfAnotherVersionAreToldTheVersion) {
  Greeting server(Side::kServer, "nonce");
  EXPECT_EQ(server.Receive(std::string("distbtcp\x01\0\0\0", 12)),
            StreamError::kOtherVersion);
  EXPECT_EQ(server.TakeOutput().substr(0, 9), "distbtcp\x02");
}

}  // namespace
}  // namespace distbench::protocol
