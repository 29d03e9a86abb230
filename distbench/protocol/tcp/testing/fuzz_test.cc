// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Decoding any bytes of a peer ends with frames or with a named error, and does
// not depend on how the bytes are split into reads.

#include <random>
#include <string>

#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/testing/fuzz_entry.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr int kRounds = 20'000;
constexpr int kFramesPerStream = 5;
constexpr char kRequests = 1;  // the byte that DecodeStream() expects
constexpr char kReplies = 2;

template <typename Header>
std::string Frame(FrameKind kind, const Header& header, int64_t target_bytes) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  const size_t times_bytes = TimesBytes(kind);
  std::string frame(kFrameHeaderBytes + times_bytes + layout.total_bytes(),
                    'D');
  EncodeFrameHeader(
      {.message_bytes =
           static_cast<uint32_t>(times_bytes + layout.total_bytes()),
       .head_bytes = static_cast<uint32_t>(times_bytes + layout.head_bytes),
       .kind = kind,
       .call_id = 7},
      frame.data());
  payload::WriteHead(header, layout,
                     frame.data() + kFrameHeaderBytes + times_bytes);
  return frame;
}

// A well-formed stream.
std::string MakeStream(std::mt19937& random) {
  const bool requests = random() % 2 == 0;
  const bool has_times = random() % 2 == 0;
  std::string stream(1, static_cast<char>((requests ? kRequests : kReplies) |
                                          (has_times ? kTimesBit : 0)));
  const std::string text(random() % 40, 't');
  for (int i = 0; i < kFramesPerStream; ++i) {
    const auto target_bytes = static_cast<int64_t>(random() % 200);
    if (requests) {
      stream += Frame(FrameKind::kRequest,
                      payload::RequestHeader{.rpc_index = static_cast<int>(i),
                                             .warmup = i % 2 == 0,
                                             .response_bytes = 100 * i,
                                             .trace_context = text},
                      target_bytes);
    } else {
      stream +=
          Frame(has_times ? FrameKind::kTimedReply : FrameKind::kReply,
                payload::ResponseHeader{.error_message = text}, target_bytes);
    }
  }
  return stream;
}

void Mutate(std::mt19937& random, std::string& bytes) {
  const size_t position = random() % bytes.size();
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
  if (bytes.empty()) bytes = kRequests;
}

TEST(FuzzTest, WellFormedStreamsAreUnderstood) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    const DecodedStream decoded = DecodeStream(MakeStream(random), 1 << 20);
    ASSERT_EQ(decoded.error, StreamError::kNone);
    ASSERT_EQ(decoded.frames, kFramesPerStream);
  }
}

TEST(FuzzTest, SurvivesAbsurdReplySizes) {
  for (const int64_t reply_bytes :
       {INT64_MIN, INT64_MIN + 1, INT64_MAX, int64_t{1} << 40, int64_t{-2}}) {
    const std::string request =
        Frame(FrameKind::kRequest,
              payload::RequestHeader{.response_bytes = reply_bytes},
              /*target_bytes=*/0);
    DecodeInPieces(std::string(1, kRequests) + request + request);
  }
}

TEST(FuzzTest, SurvivesMutatedStreams) {
  std::mt19937 random(2);
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string stream = MakeStream(random);
    for (int i = 0; i <= round % 4; ++i) Mutate(random, stream);
    DecodeInPieces(stream);
    refused += DecodeStream(stream, 64).error != StreamError::kNone;
  }
  // Changes of payloads are not noticed.
  EXPECT_GT(refused, kRounds / 10);
  EXPECT_LT(refused, kRounds);
}

TEST(FuzzTest, SurvivesTheKeptCorpus) {
  for (const std::string& bytes : fuzzing::KeptCorpus("frame"))
    DecodeInPieces(bytes);
}

TEST(FuzzTest, SurvivesMutatedGreetings) {
  std::mt19937 random(4);
  int malformed = 0;
  for (int round = 0; round < kRounds / 10; ++round) {
    Greeting client(Greeting::Side::kClient, "nonce");
    Greeting server(Greeting::Side::kServer, "nonce");
    const std::string hello = client.TakeOutput();
    ASSERT_EQ(server.Receive(hello), StreamError::kNone);
    std::string to_server = hello + std::string(security::kProofBytes, 'x');
    std::string to_client = server.TakeOutput();
    for (std::string* bytes : {&to_server, &to_client}) {
      for (int i = 0; i < round % 4; ++i) Mutate(random, *bytes);
      const bool is_for_server = bytes == &to_server;
      bytes->insert(0, 1,
                    static_cast<char>(kGreetingBit | (is_for_server ? 1 : 0)));
      DecodeInPieces(*bytes);
      malformed += DecodeStream(*bytes, 64).error == StreamError::kNoHello;
    }
  }
  EXPECT_GT(malformed, kRounds / 100);
}

TEST(FuzzTest, SurvivesNoise) {
  std::mt19937 random(3);
  for (int round = 0; round < kRounds; ++round) {
    std::string noise(random() % 100, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    DecodeInPieces(noise);
  }
}

}  // namespace
}  // namespace distbench::protocol
