// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "driver.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/tcp/testing/wire_time_conformance.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "gtest/gtest.h"
#include "message.h"

// The suites that every driver must pass.
namespace distbench::protocol {
namespace {

std::vector<DriverUnderTest> Drivers(
    const std::vector<ConnectionVariant>& variants) {
  return DriversOf<own_driver::PrefixedDriver, ReadTcpSettings>(variants);
}

INSTANTIATE_TEST_SUITE_P(Usual, DriverConformanceTest,
                         testing::ValuesIn(Drivers(UsualVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(ACallPerConnection, CallsPerConnectionTest,
                         testing::ValuesIn(Drivers(OneCallVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::ValuesIn(Drivers(TimedVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Stamped, WireTimeConformanceTest,
                         testing::ValuesIn(Drivers(StampedVariants())),
                         NameOfDriver);

}  // namespace
}  // namespace distbench::protocol

namespace own_driver {
namespace {

std::string BytesOf(const Prefix& prefix, const std::string& message) {
  return std::string(reinterpret_cast<const char*>(&prefix), sizeof(prefix)) +
         message;
}

TEST(DecoderTest, FindsMessagesHoweverTheyAreSplit) {
  const std::string bytes =
      BytesOf({.head_bytes = 3, .payload_bytes = 2, .call_id = 7}, "abcDD") +
      BytesOf({.call_id = 8}, "") +
      BytesOf({.payload_bytes = 1, .call_id = 9}, "D") +
      BytesOf({.head_bytes = 1, .call_id = 10}, "x");
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    Decoder decoder;
    std::string found;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      ASSERT_EQ(decoder.Decode(absl::string_view(bytes).substr(i, piece),
                               [&](const Message& message) {
                                 found += std::to_string(message.call_id) +
                                          std::string(message.head) +
                                          std::to_string(message.size()) + " ";
                                 return StreamError::kNone;
                               }),
                StreamError::kNone);
    }
    EXPECT_EQ(found, "7abc5 80 91 10x1 ") << "in pieces of " << piece;
  }
}

StreamError ErrorOf(const Prefix& prefix) {
  Decoder decoder;
  return decoder.Decode(BytesOf(prefix, ""),
                        [](const Message&) { return StreamError::kNone; });
}

TEST(DecoderTest, RefusesWhatIsTooLarge) {
  constexpr auto kMost =
      static_cast<uint32_t>(distbench::payload::kMaxMessageBytes);
  EXPECT_EQ(ErrorOf({.head_bytes = kMaxHeadBytes}), StreamError::kNone);
  EXPECT_EQ(ErrorOf({.head_bytes = kMaxHeadBytes + 1}),
            StreamError::kOversizedHead);
  EXPECT_EQ(ErrorOf({.payload_bytes = kMost}), StreamError::kNone);
  EXPECT_EQ(ErrorOf({.head_bytes = 1, .payload_bytes = kMost}),
            StreamError::kOversizedMessage);
}

}  // namespace
}  // namespace own_driver
