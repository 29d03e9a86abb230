// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Decoding any bytes of a peer ends with messages or with a named error, and
// does not depend on how the bytes are split into reads.

#include <random>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/products/thrift/message.h"
#include "distbench/products/thrift/testing/fuzz_entry.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::thrift {
namespace {

constexpr int kRounds = 20'000;
constexpr int kFrames = 5;

// A well-formed frame.
std::string Frame(std::mt19937& random) {
  GenericRequestResponse message;
  message.set_rpc_index(static_cast<int>(random() % 10));
  message.set_payload(std::string(random() % 700, 'D'));
  if (random() % 4 == 0) message.set_after_payload32(7);
  const std::string bytes = message.SerializeAsString();
  switch (random() % 5) {
    case 0:
      return ThriftFrame(ThriftType::kReply, kThriftGenericRpc, random(),
                         bytes);
    case 1:
      return ThriftFrame(ThriftType::kCall, kThriftHandshake, random(), bytes);
    case 2:
      return ThriftExceptionFrame(kThriftGenericRpc, random(),
                                  ThriftFault::kProtocolError, "no");
    case 3:
      return ThriftFrame(ThriftType::kOneway, "other", random(), bytes);
    default:
      return ThriftFrame(ThriftType::kCall, kThriftGenericRpc, random(), bytes);
  }
}

std::string MakeStream(std::mt19937& random) {
  std::string stream;
  for (int i = 0; i < kFrames; ++i) stream += Frame(random);
  return stream;
}

void Mutate(std::mt19937& random, std::string& bytes) {
  // Most changes hit what surrounds the payloads.
  const size_t position =
      random() % 2 == 0 ? random() % bytes.size() : random() % 40;
  switch (random() % 4) {
    case 0:
      bytes[position] = static_cast<char>(random());
      break;
    case 1:
      bytes[position] ^= static_cast<char>(1 << random() % 8);
      break;
    case 2:
      bytes.erase(position, 1 + random() % 8);
      break;
    case 3:
      bytes.insert(position, 1 + random() % 8, static_cast<char>(random()));
      break;
  }
}

TEST(ThriftFuzzTest, WellFormedStreamsAreUnderstood) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const std::string stream = MakeStream(random);
    DecodeThriftInPieces(stream);
    const DecodedThrift decoded = DecodeThrift(stream, 100);
    ASSERT_EQ(decoded.error, protocol::StreamError::kNone);
    ASSERT_EQ(decoded.count, kFrames);
  }
}

TEST(ThriftFuzzTest, SurvivesMutatedStreams) {
  std::mt19937 random(2);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string stream = MakeStream(random);
    for (int i = 0; i <= round % 4; ++i) Mutate(random, stream);
    DecodeThriftInPieces(stream);
    refused += DecodeThrift(stream, 64).error != protocol::StreamError::kNone;
  }
  // Changes of payloads are not noticed.
  EXPECT_GT(refused, kRounds / 10);
  EXPECT_LT(refused, kRounds);
}

// A message that does not end with its payload is kept up to a limit, however
// large it claims to be.
TEST(ThriftFuzzTest, MessagesWithoutEndAreRefused) {
  std::string stream =
      ThriftFrame(ThriftType::kCall, kThriftGenericRpc, 1,
                  std::string(ThriftDecoder::kMaxKeptBytes + 100, '\x08'));
  EXPECT_EQ(DecodeThrift(stream, 64 * 1024).error,
            protocol::StreamError::kOversizedHead);
  stream = ThriftFrame(ThriftType::kCall, "other", 1,
                       std::string(ThriftDecoder::kMaxKeptBytes, 'x'));
  EXPECT_EQ(DecodeThrift(stream, 64 * 1024).error,
            protocol::StreamError::kOversizedHead);
}

TEST(ThriftFuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : fuzzing::KeptCorpus("thrift")) {
    DecodeThriftInPieces(bytes);
  }
}

}  // namespace
}  // namespace distbench::thrift
