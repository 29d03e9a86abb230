// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/driver_parts.h"

#include <cstddef>
#include <string>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/security/nonce.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TakeTurnTest, PassesOverWhatIsNotUsable) {
  std::vector<int> items = {0, 1, 2};
  std::vector<int> passed;
  size_t next = 1;
  const auto take = [&](int usable) {
    return TakeTurn(
        items, next, [&](int item) { return item == usable; },
        [&](int item) { passed.push_back(item); });
  };
  EXPECT_EQ(take(0), 0);
  EXPECT_THAT(passed, ElementsAre(1, 2));
  EXPECT_EQ(next, 2);
  // If nothing is usable, the one whose turn it is.
  EXPECT_EQ(take(7), 2);
  EXPECT_EQ(next, 0);
}

TEST(RetryDelayTest, DoublesUntilItIsReset) {
  RetryDelay delay;
  EXPECT_EQ(delay.After(100), 100 + RetryDelay::kFirstNs);
  EXPECT_EQ(delay.After(100), 100 + 2 * RetryDelay::kFirstNs);
  for (int i = 0; i < 100; ++i) delay.After(0);
  EXPECT_EQ(delay.After(0), RetryDelay::kLongestNs);
  delay.Reset();
  EXPECT_EQ(delay.After(0), RetryDelay::kFirstNs);
}

TEST(AddCountersTest, LeavesOutWhatIsZero) {
  std::vector<DriverCounter> counters = {{"a", 1}};
  AddCounters({{"b", 0}, {"c", 2}}, counters);
  ASSERT_EQ(counters.size(), 2);
  EXPECT_EQ(counters[1].name, "c");
  EXPECT_EQ(counters[1].value, 2);
}

TEST(HandshakeTest, EachSideSeesWhetherTheOtherKnowsTheNonce) {
  const std::string challenge = security::DrawChallenge("nonce");
  const std::string request = HandshakeRequestWith(challenge);
  EXPECT_TRUE(KnowsNonce("nonce", request));
  EXPECT_FALSE(KnowsNonce("other", request));
  EXPECT_EQ(ProblemOfAnswer("nonce", challenge,
                            AnswerHandshake("nonce", request).value()),
            "");
  EXPECT_NE(ProblemOfAnswer("nonce", challenge,
                            AnswerHandshake("other", request).value()),
            "");
}

TEST(HandshakeTest, ClientsOfOtherProgramsAreAnswered) {
  const std::string request = HandshakeRequestWith(security::DrawNonce());
  EXPECT_FALSE(KnowsNonce("nonce", request));
  EXPECT_TRUE(AnswerHandshake("nonce", request).ok());
  for (const char* malformed : {"", "x"}) {
    EXPECT_FALSE(KnowsNonce("nonce", malformed));
    EXPECT_FALSE(AnswerHandshake("nonce", malformed).ok());
  }
}

TEST(FailureListTest, NamesEachFailureOnce) {
  FailureList failures;
  EXPECT_TRUE(failures.empty());
  for (const char* failure : {"a (refused)", "b (refused)", "a (refused)"}) {
    failures.Add(failure);
  }
  EXPECT_FALSE(failures.empty());
  EXPECT_EQ(failures.ToString(), "a (refused), b (refused)");
}

TEST(FailureListTest, NamesTheFirstThree) {
  FailureList failures;
  for (const char* failure : {"a", "b", "c"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c");
  for (const char* failure : {"d", "e", "e"}) failures.Add(failure);
  EXPECT_EQ(failures.ToString(), "a, b, c and 2 more");
}

TEST(AnnouncedTlsTest, AddressesArriveAsTheyWere) {
  for (bool uses_tls : {false, true}) {
    const std::string announced = AnnounceTls("ipv4:127.0.0.1:80", uses_tls);
    EXPECT_EQ(announced == "ipv4:127.0.0.1:80", !uses_tls);
    const auto peers = PeersToDial(
        {{.addresses = {announced}}, {.addresses = {announced, announced}}},
        uses_tls);
    ASSERT_TRUE(peers.ok()) << peers.status();
    for (const Peer& peer : *peers) {
      EXPECT_THAT(peer.addresses, testing::Each("ipv4:127.0.0.1:80"));
    }
  }
}

TEST(AnnouncedTlsTest, MixturesAreRefused) {
  const auto error = [](const std::string& address, bool uses_tls) {
    return std::string(
        PeersToDial(SingleServers({address}), uses_tls).status().message());
  };
  EXPECT_THAT(error(AnnounceTls("1.2.3.4:5", true), false),
              AllOf(HasSubstr("1.2.3.4:5 uses TLS"), HasSubstr("--tls_ca")));
  EXPECT_THAT(error("1.2.3.4:5", true),
              HasSubstr("1.2.3.4:5 does not use TLS"));
}

}  // namespace
}  // namespace distbench::protocol
