// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Decoding any bytes of a peer gives what wire.h promises, or nothing.

#include <cstdint>
#include <random>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/fuzzing/message_mutator.h"
#include "distbench/products/libfabric/testing/fuzz_entry.h"
#include "distbench/products/libfabric/wire.h"
#include "gtest/gtest.h"

namespace distbench::libfabric {
namespace {

constexpr int kRounds = 20'000;

std::string Hello(uint32_t address_bytes) {
  std::string hello(kMessageHeaderBytes, '\0');
  EncodeMessageHeader({.kind = MessageKind::kHello}, hello.data());
  return hello + EncodeIntroduction({.link = 7,
                                     .receive_bytes = kMinReceiveBufferBytes,
                                     .address = std::string(address_bytes, 'a'),
                                     .greeting = "greeting"});
}

bool IsUnderstood(const std::string& message) {
  Introduction introduction;
  return message.size() >= kMessageHeaderBytes &&
         DecodeIntroduction(
             absl::string_view(message).substr(kMessageHeaderBytes),
             introduction);
}

TEST(LibfabricFuzzTest, AHelloIsReadAsWritten) {
  const std::string hello = Hello(16);
  DecodeLibfabricBytes(hello);
  Introduction introduction;
  ASSERT_TRUE(DecodeIntroduction(
      absl::string_view(hello).substr(kMessageHeaderBytes), introduction));
  EXPECT_EQ(introduction.link, 7u);
  EXPECT_EQ(introduction.receive_bytes, kMinReceiveBufferBytes);
  EXPECT_EQ(introduction.address, std::string(16, 'a'));
  EXPECT_EQ(introduction.greeting, "greeting");
}

TEST(LibfabricFuzzTest, WhatNoPeerSaysIsRefused) {
  EXPECT_TRUE(IsUnderstood(Hello(kMaxFabricAddressBytes)));
  EXPECT_FALSE(IsUnderstood(Hello(kMaxFabricAddressBytes + 1)));
  const size_t end = kMessageHeaderBytes + kIntroductionBytes;
  EXPECT_FALSE(IsUnderstood(Hello(16).substr(0, end + 15)));
  EXPECT_FALSE(IsUnderstood(Hello(0).substr(0, end - 1)));
  std::string large_link = Hello(16);
  large_link[kMessageHeaderBytes + 7] = 1;
  EXPECT_FALSE(IsUnderstood(large_link));
  std::string small_buffer = Hello(16);
  small_buffer[kMessageHeaderBytes + 9] = 0;
  EXPECT_FALSE(IsUnderstood(small_buffer));
}

TEST(LibfabricFuzzTest, SurvivesMutatedMessages) {
  fuzzing::MessageMutator mutator(/*seed=*/1);
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes =
        round % 4 == 0 ? "libfabric:tcp;ofi_rxm:0a1B,02" : Hello(random() % 64);
    mutator.Mutate(bytes);
    DecodeLibfabricBytes(bytes);
    refused += !IsUnderstood(bytes);
  }
  EXPECT_GT(refused, kRounds / 4) << "addresses are no messages";
  EXPECT_LT(refused, kRounds);
}

TEST(LibfabricFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : fuzzing::KeptCorpus("libfabric")) {
    DecodeLibfabricBytes(bytes);
  }
}

}  // namespace
}  // namespace distbench::libfabric
