// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/nonce.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

// RFC 4231, test case 2.
TEST(NonceTest, ProofsAreHmacSha256) {
  EXPECT_EQ(absl::BytesToHexString(
                ProveNonce("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(NonceTest, NoncesAreLongAndDiffer) {
  const std::string nonce = DrawNonce();
  EXPECT_EQ(nonce.size(), kNonceBytes);
  EXPECT_NE(nonce, DrawNonce());
}

TEST(NonceTest, OnlyTheRightProofCounts) {
  const std::string nonce = DrawNonce();
  const std::string challenge = DrawNonce();
  std::string proof = ProveNonce(nonce, challenge);
  EXPECT_TRUE(IsProofOf(nonce, challenge, proof));
  EXPECT_FALSE(IsProofOf(DrawNonce(), challenge, proof));
  EXPECT_FALSE(IsProofOf(nonce, DrawNonce(), proof));
  EXPECT_FALSE(IsProofOf(nonce, challenge, proof.substr(1)));
  EXPECT_FALSE(IsProofOf(nonce, challenge, ""));
  proof.back() ^= 1;
  EXPECT_FALSE(IsProofOf(nonce, challenge, proof));
}

TEST(NonceTest, AChallengeShowsWhetherItsSenderKnowsTheNonce) {
  for (const std::string& nonce : {DrawNonce(), std::string()}) {
    const std::string challenge = DrawChallenge(nonce);
    EXPECT_EQ(challenge.size(), kNonceBytes);
    EXPECT_NE(challenge, DrawChallenge(nonce));
    EXPECT_TRUE(IsChallengeOf(nonce, challenge));
    EXPECT_FALSE(IsChallengeOf(DrawNonce(), challenge));
    EXPECT_FALSE(IsChallengeOf(nonce, DrawNonce()));
    EXPECT_FALSE(IsChallengeOf(nonce, challenge.substr(1)));
    EXPECT_FALSE(IsChallengeOf(nonce, ""));
  }
}

// A server answers the challenges of strangers.
TEST(NonceTest, AnAnswerHelpsNobodyToAChallenge) {
  const std::string nonce = DrawNonce();
  const std::string answer = ProveNonce(nonce, DrawNonce());
  EXPECT_FALSE(IsChallengeOf(nonce, answer));
}

// Tests without a sequencer have no nonce.
TEST(NonceTest, ANonceMayBeEmpty) {
  EXPECT_TRUE(IsProofOf("", "challenge", ProveNonce("", "challenge")));
}

}  // namespace
}  // namespace distbench::security
