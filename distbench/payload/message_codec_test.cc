// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/payload/message_codec.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::payload {
namespace {

template <typename Header>
std::string Encode(const Header& header, int64_t target_bytes) {
  const MessageLayout layout = LayOutMessage(header, target_bytes);
  std::string message(layout.head_bytes, '\0');
  WriteHead(header, layout, message.data());
  return message.append(layout.payload_bytes, 'D');
}

template <typename Header>
int64_t MinimumBytes(const Header& header) {
  return LayOutMessage(header, 0).total_bytes();
}

GenericRequestResponse ParseOrDie(const std::string& message) {
  GenericRequestResponse parsed;
  EXPECT_TRUE(parsed.ParseFromString(message));
  return parsed;
}

void ExpectFields(const GenericRequestResponse& message,
                  const RequestHeader& header) {
  EXPECT_EQ(message.rpc_index(), header.rpc_index);
  EXPECT_EQ(message.has_server_instance(),
            header.server_instance != RequestHeader::kAnyInstance);
  if (message.has_server_instance()) {
    EXPECT_EQ(message.server_instance(), header.server_instance);
  }
  EXPECT_EQ(message.warmup(), header.warmup);
  EXPECT_EQ(message.has_response_payload_size(),
            header.response_bytes != RequestHeader::kNoResponseBytes);
  if (message.has_response_payload_size()) {
    EXPECT_EQ(message.response_payload_size(), header.response_bytes);
  }
  EXPECT_EQ(message.server_processing_time_ns(), header.processing_ns);
  EXPECT_EQ(message.has_trace_context(), !header.trace_context.empty());
  EXPECT_EQ(message.trace_context().SerializeAsString(),
            std::string(header.trace_context));
  EXPECT_FALSE(message.has_error_message());
}

void ExpectFields(const GenericRequestResponse& message,
                  const ResponseHeader& header) {
  EXPECT_EQ(message.server_instance(), header.server_instance);
  EXPECT_EQ(message.error_message(), std::string(header.error_message));
  EXPECT_EQ(message.has_server_queue_time_ns(), header.queue_ns >= 0);
  EXPECT_EQ(message.has_server_handler_time_ns(), header.handler_ns >= 0);
  if (header.queue_ns >= 0) {
    EXPECT_EQ(message.server_queue_time_ns(), header.queue_ns);
  }
  if (header.handler_ns >= 0) {
    EXPECT_EQ(message.server_handler_time_ns(), header.handler_ns);
  }
  EXPECT_FALSE(message.has_rpc_index());
}

// Long enough for every message in the tests.
const std::string& Padding() {
  static const std::string* const padding = new std::string(3 << 20, 'D');
  return *padding;
}

// Compares the encoded bytes with protobuf's view of them.
template <typename Header>
void ExpectExact(const Header& header, int64_t target_bytes) {
  const std::string message = Encode(header, target_bytes);
  ASSERT_EQ(message.size(), std::max(target_bytes, MinimumBytes(header)));
  const GenericRequestResponse parsed = ParseOrDie(message);
  ExpectFields(parsed, header);
  ASSERT_TRUE(absl::StartsWith(Padding(), parsed.payload()));
  ASSERT_TRUE(parsed.unknown_fields().empty());
}

bool operator==(const RequestHeader& a, const RequestHeader& b) {
  return a.rpc_index == b.rpc_index && a.server_instance == b.server_instance &&
         a.warmup == b.warmup && a.response_bytes == b.response_bytes &&
         a.processing_ns == b.processing_ns &&
         a.trace_context == b.trace_context;
}

bool operator==(const ResponseHeader& a, const ResponseHeader& b) {
  return a.server_instance == b.server_instance &&
         a.error_message == b.error_message && a.queue_ns == b.queue_ns &&
         a.handler_ns == b.handler_ns;
}

// A number whose magnitude is drawn uniformly.
int64_t AnyMagnitude(std::mt19937_64& random, int max_bits) {
  return static_cast<int64_t>(random() >> (64 - 1 - random() % max_bits));
}

std::string RandomTraceContext(std::mt19937_64& random) {
  TraceContext context;
  for (uint64_t hops = random() % 6; hops > 0; --hops) {
    context.add_engine_ids(AnyMagnitude(random, 20));
    context.add_action_iterations(AnyMagnitude(random, 60));
    context.add_fanout_index(AnyMagnitude(random, 10));
  }
  return context.SerializeAsString();
}

RequestHeader RandomRequest(std::mt19937_64& random, std::string& trace) {
  RequestHeader header;
  header.rpc_index = AnyMagnitude(random, 31);
  header.server_instance = random() % 4 == 0 ? RequestHeader::kAnyInstance
                                             : AnyMagnitude(random, 31);
  header.warmup = random() % 2 == 0;
  if (random() % 2 == 0) header.response_bytes = AnyMagnitude(random, 62);
  if (random() % 2 == 0) header.processing_ns = AnyMagnitude(random, 62);
  if (random() % 2 == 0) trace = RandomTraceContext(random);
  header.trace_context = trace;
  return header;
}

// Cuts a string into slices at random places; some are empty.
std::vector<absl::string_view> RandomSlices(std::mt19937_64& random,
                                            absl::string_view message) {
  std::vector<absl::string_view> slices;
  while (!message.empty()) {
    const size_t size = std::min<size_t>(random() % 12, message.size());
    slices.push_back(message.substr(0, size));
    message.remove_prefix(size);
  }
  slices.push_back(message);
  return slices;
}

TEST(MessageCodecTest, EverySizeOfARequestIsExact) {
  const RequestHeader plain;
  const RequestHeader to_any{.server_instance = RequestHeader::kAnyInstance};
  const RequestHeader full{.rpc_index = 300,
                           .server_instance = 7,
                           .warmup = true,
                           .response_bytes = 262144,
                           .processing_ns = 5'000'000};
  for (int64_t bytes = 0; bytes <= 70'000; ++bytes) {
    ASSERT_NO_FATAL_FAILURE(ExpectExact(plain, bytes)) << bytes;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(to_any, bytes)) << bytes;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(full, bytes)) << bytes;
  }
}

TEST(MessageCodecTest, EverySizeOfAResponseIsExact) {
  const ResponseHeader success{.server_instance = 3};
  const ResponseHeader failure{.error_message = "Traffic cancelled: enough"};
  const ResponseHeader timed{
      .server_instance = 3, .queue_ns = 0, .handler_ns = 70'000};
  const ResponseHeader slow{.queue_ns = INT64_MAX, .handler_ns = INT64_MAX};
  EXPECT_EQ(MinimumBytes(timed), 14);
  EXPECT_EQ(MinimumBytes(slow), 28);
  for (int64_t bytes = 0; bytes <= 70'000; ++bytes) {
    ASSERT_NO_FATAL_FAILURE(ExpectExact(success, bytes)) << bytes;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(failure, bytes)) << bytes;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(timed, bytes)) << bytes;
    ASSERT_NO_FATAL_FAILURE(ExpectExact(slow, bytes)) << bytes;
  }
}

template <typename Header>
std::string HeadOf(const Header& header, const MessageLayout& layout) {
  std::string head(layout.head_bytes, '\0');
  WriteHead(header, layout, head.data());
  return head;
}

TEST(MessageCodecTest, HeadsAreReadWithoutTheirPayload) {
  const RequestHeader request{.rpc_index = 300,
                              .server_instance = 7,
                              .warmup = true,
                              .response_bytes = 262144,
                              .processing_ns = 5'000'000,
                              .trace_context = "trace"};
  const ResponseHeader response{.server_instance = 3, .error_message = "no"};
  std::string scratch;
  for (int64_t bytes : {0, 16, 60, 200, 20'000, 3'000'000}) {
    MessageLayout layout = LayOutMessage(request, bytes);
    RequestHeader read_request;
    ASSERT_TRUE(DecodeHead(HeadOf(request, layout), layout.payload_bytes,
                           read_request, scratch));
    EXPECT_EQ(read_request.rpc_index, 300);
    EXPECT_EQ(read_request.server_instance, 7);
    EXPECT_TRUE(read_request.warmup);
    EXPECT_EQ(read_request.response_bytes, 262144);
    EXPECT_EQ(read_request.processing_ns, 5'000'000);

    layout = LayOutMessage(response, bytes);
    const std::string head = HeadOf(response, layout);
    ResponseHeader read_response;
    ASSERT_TRUE(DecodeHead(head, layout.payload_bytes, read_response, scratch));
    EXPECT_EQ(read_response.server_instance, 3);
    EXPECT_EQ(read_response.error_message, "no");
    // The payload's size must match the head.
    EXPECT_FALSE(
        DecodeHead(head, layout.payload_bytes + 1, read_response, scratch));
  }
}

TEST(MessageCodecTest, SizesAroundLengthBoundariesAreExact) {
  const RequestHeader header{.rpc_index = 1};
  for (int64_t boundary : {128, 128 * 128, 128 * 128 * 128}) {
    for (int64_t bytes = boundary - 24; bytes <= boundary + 24; ++bytes) {
      ASSERT_NO_FATAL_FAILURE(ExpectExact(header, bytes)) << bytes;
    }
  }
  // Larger sizes, without filling memory.
  for (int64_t boundary : {int64_t{1} << 28, kMaxMessageBytes - 24}) {
    for (int64_t bytes = boundary - 24; bytes <= boundary + 24; ++bytes) {
      EXPECT_EQ(LayOutMessage(header, bytes).total_bytes(), bytes);
    }
  }
}

TEST(MessageCodecTest, TargetsBeyondTheMaximumAreCutToIt) {
  for (int64_t target : {kMaxMessageBytes + 1, INT64_MAX}) {
    EXPECT_EQ(LayOutMessage(RequestHeader(), target).total_bytes(),
              kMaxMessageBytes);
  }
}

TEST(MessageCodecTest, NegativeTargetsGiveTheMinimum) {
  EXPECT_EQ(LayOutMessage(RequestHeader(), INT64_MIN).total_bytes(), 4);
  EXPECT_EQ(LayOutMessage(ResponseHeader(), -1).total_bytes(), 2);
}

TEST(MessageCodecTest, RandomRequestsSurviveTheRoundTrip) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string trace;
    const RequestHeader sent = RandomRequest(random, trace);
    const int64_t bytes = random() % 600;
    const std::string message = Encode(sent, bytes);
    ASSERT_EQ(message.size(), std::max(bytes, MinimumBytes(sent)));
    ASSERT_NO_FATAL_FAILURE(ExpectFields(ParseOrDie(message), sent));

    RequestHeader received;
    std::string scratch;
    ASSERT_TRUE(
        DecodeMessage(RandomSlices(random, message), received, scratch));
    ASSERT_TRUE(received == sent) << message;
  }
}

TEST(MessageCodecTest, RandomResponsesSurviveTheRoundTrip) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50'000; ++i) {
    const std::string error(random() % 3 == 0 ? random() % 300 : 0, 'e');
    const auto time_ns = [&random] {
      return random() % 3 == 0 ? ResponseHeader::kNoTime
                               : AnyMagnitude(random, 62);
    };
    const ResponseHeader sent{
        .server_instance = static_cast<int32_t>(AnyMagnitude(random, 31)),
        .error_message = error,
        .queue_ns = time_ns(),
        .handler_ns = time_ns()};
    const std::string message = Encode(sent, random() % 600);
    ASSERT_NO_FATAL_FAILURE(ExpectFields(ParseOrDie(message), sent));

    ResponseHeader received;
    std::string scratch;
    ASSERT_TRUE(
        DecodeMessage(RandomSlices(random, message), received, scratch));
    ASSERT_TRUE(received == sent) << message;
  }
}

TEST(MessageCodecTest, StringsOfOneSliceAreNotCopied) {
  const ResponseHeader sent{.error_message = "no"};
  const std::string message = Encode(sent, 100);
  ResponseHeader received;
  std::string scratch;
  ASSERT_TRUE(DecodeMessage({absl::string_view(message)}, received, scratch));
  EXPECT_GE(received.error_message.data(), message.data());
  EXPECT_LT(received.error_message.data(), message.data() + message.size());
}

TEST(MessageCodecTest, ReadsWhatProtobufWrites) {
  GenericRequestResponse message;
  message.set_rpc_index(5);
  message.mutable_trace_context()->add_engine_ids(9);
  message.set_warmup(true);
  message.set_response_payload_size(1000);
  message.set_server_processing_time_ns(-4);
  message.set_error_message("error");
  message.set_server_instance(2);
  message.set_before_payload32(1);
  message.set_before_payload64(2);
  message.set_trim(true);
  message.set_payload(std::string(300, 'x'));
  message.set_after_payload32(3);
  message.set_after_payload64(4);
  const std::string bytes = message.SerializeAsString();

  RequestHeader request;
  ResponseHeader response;
  std::string scratch;
  ASSERT_TRUE(DecodeMessage({absl::string_view(bytes)}, request, scratch));
  ExpectFields(
      [&] {
        message.clear_error_message();
        return message;
      }(),
      request);
  ASSERT_TRUE(DecodeMessage({absl::string_view(bytes)}, response, scratch));
  EXPECT_EQ(response.server_instance, 2);
  EXPECT_EQ(response.error_message, "error");
}

// With a copy of what there is for each piece this would take minutes.
TEST(MessageCodecTest, MergingManyPiecesTakesNoMoreTime) {
  constexpr size_t kFirstBytes = 1 << 20;
  constexpr size_t kPieces = 1 << 20;
  GenericRequestResponse first;
  first.mutable_trace_context()->add_engine_ids(9);
  std::string bytes = first.SerializeAsString();
  const std::string piece = bytes;
  first.mutable_trace_context()->mutable_engine_ids()->Resize(kFirstBytes, 9);
  bytes = first.SerializeAsString();
  for (size_t i = 0; i < kPieces; ++i) bytes += piece;
  RequestHeader header;
  std::string scratch;
  ASSERT_TRUE(DecodeMessage({absl::string_view(bytes)}, header, scratch));
  TraceContext merged;
  ASSERT_TRUE(merged.ParseFromString(std::string(header.trace_context)));
  EXPECT_EQ(merged.engine_ids_size(), kFirstBytes + kPieces);
}

TEST(MessageCodecTest, NoSliceIsAnEmptyMessage) {
  RequestHeader header{.rpc_index = 5};
  std::string scratch;
  EXPECT_TRUE(DecodeMessage({}, header, scratch));
  const RequestHeader empty{.server_instance = RequestHeader::kAnyInstance};
  EXPECT_TRUE(header == empty);
  ResponseHeader response;
  EXPECT_TRUE(DecodeMessage({}, response, scratch));
  EXPECT_EQ(response.server_instance, ResponseHeader::kNoInstance);
}

TEST(MessageCodecTest, RefusesMalformedMessages) {
  const std::vector<std::string> malformed = {
      std::string("\x08", 1),      // no number
      std::string("\x00\x01", 2),  // field 0
      std::string("\x7a\x05"
                  "DDD",
                  5),  // payload too short
      std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
      std::string("\x08") + std::string(10, '\xff') + '\x01',
      std::string("\x0e", 1),          // wire type 6
      std::string("\x0c", 1),          // end without a group
      std::string("\x0b\x08\x01", 3),  // group without end
      std::string(1000, '\x0b'),       // too many nested groups
      std::string("\x65\x01\x02", 3),  // fixed32 too short
  };
  for (const std::string& message : malformed) {
    RequestHeader request;
    ResponseHeader response;
    std::string scratch;
    const absl::string_view slices[] = {message};
    EXPECT_FALSE(DecodeMessage(slices, request, scratch))
        << testing::PrintToString(message);
    EXPECT_FALSE(DecodeMessage(slices, response, scratch))
        << testing::PrintToString(message);
  }
}

// Flips, inserts, removes and duplicates bytes.
void Mutate(std::mt19937_64& random, std::string& message) {
  for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
    const size_t at = random() % (message.size() + 1);
    switch (random() % 4) {
      case 0:
        if (at < message.size()) message[at] ^= 1 << random() % 8;
        break;
      case 1:
        message.insert(at, 1, static_cast<char>(random()));
        break;
      case 2:
        message.erase(at, random() % 3);
        break;
      case 3:
        message.insert(at, message.substr(at, random() % 16));
        break;
    }
  }
}

TEST(MessageCodecTest, AgreesWithProtobufOnMutatedMessages) {
  std::mt19937_64 random(3);
  int accepted = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string trace;
    std::string bytes = Encode(RandomRequest(random, trace), random() % 80);
    if (i % 2 == 0) {
      bytes += Encode(ResponseHeader{.error_message = "broken"}, random() % 60);
    }
    Mutate(random, bytes);
    const std::vector<absl::string_view> slices = RandomSlices(random, bytes);

    RequestHeader request;
    ResponseHeader response;
    std::string request_scratch;
    std::string response_scratch;
    const bool request_ok = DecodeMessage(slices, request, request_scratch);
    const bool response_ok = DecodeMessage(slices, response, response_scratch);
    ASSERT_EQ(request_ok, response_ok);

    GenericRequestResponse parsed;
    if (!parsed.ParseFromString(bytes)) continue;
    ++accepted;
    ASSERT_TRUE(request_ok) << testing::PrintToString(bytes);
    ASSERT_EQ(request.rpc_index, parsed.rpc_index());
    ASSERT_EQ(request.server_instance, parsed.has_server_instance()
                                           ? parsed.server_instance()
                                           : RequestHeader::kAnyInstance);
    ASSERT_EQ(request.warmup, parsed.warmup());
    ASSERT_EQ(request.response_bytes, parsed.has_response_payload_size()
                                          ? parsed.response_payload_size()
                                          : RequestHeader::kNoResponseBytes);
    ASSERT_EQ(request.processing_ns, parsed.server_processing_time_ns());
    TraceContext context;
    ASSERT_TRUE(context.ParseFromString(std::string(request.trace_context)));
    ASSERT_EQ(context.SerializeAsString(),
              parsed.trace_context().SerializeAsString());
    ASSERT_EQ(response.server_instance, parsed.has_server_instance()
                                            ? parsed.server_instance()
                                            : ResponseHeader::kNoInstance);
    ASSERT_EQ(std::string(response.error_message), parsed.error_message());
  }
  // Otherwise the test would compare nothing.
  EXPECT_GT(accepted, 50'000);
}

TEST(MessageCodecTest, SurvivesGarbage) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    RequestHeader header;
    std::string scratch;
    const bool ok = DecodeMessage(RandomSlices(random, bytes), header, scratch);
    GenericRequestResponse parsed;
    if (parsed.ParseFromString(bytes)) {
      ASSERT_TRUE(ok);
    }
  }
}

}  // namespace
}  // namespace distbench::payload
