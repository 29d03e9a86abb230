// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/message.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace distbench::http2 {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(GrpcFieldsTest, TimeoutsAreRoundedUpAndFitIntoEightDigits) {
  EXPECT_EQ(GrpcTimeout(-5), "1u");
  EXPECT_EQ(GrpcTimeout(0), "1u");
  EXPECT_EQ(GrpcTimeout(1), "1u");
  EXPECT_EQ(GrpcTimeout(1001), "2u");
  EXPECT_EQ(GrpcTimeout(kSecondNs), "1000000u");
  EXPECT_EQ(GrpcTimeout(99'999'999'000), "99999999u");
  EXPECT_EQ(GrpcTimeout(99'999'999'001), "100000m");
  EXPECT_EQ(GrpcTimeout(99'999 * kSecondNs), "99999000m");
  EXPECT_EQ(GrpcTimeout(100'000 * kSecondNs), "100000S");
  EXPECT_EQ(GrpcTimeout(INT64_MAX), "99999999S");
}

TEST(GrpcFieldsTest, MessagesAreDecodedOnce) {
  EXPECT_EQ(DecodeGrpcMessage(""), "");
  EXPECT_EQ(DecodeGrpcMessage("all is well"), "all is well");
  EXPECT_EQ(DecodeGrpcMessage("100%25 of %c3%A4%0A"), "100% of \xc3\xa4\n");
  EXPECT_EQ(DecodeGrpcMessage("%2541"), "%41");
}

TEST(GrpcFieldsTest, InvalidEncodingsStayAsTheyAre) {
  for (const char* field : {"%", "%4", "50% off", "%g1", "%4g", "a%"}) {
    EXPECT_EQ(DecodeGrpcMessage(field), field);
  }
}

TEST(GrpcFieldsTest, StatusesAreNamed) {
  EXPECT_EQ(ErrorOfResponse("200", "8", "no room%21"),
            "RESOURCE_EXHAUSTED: no room!");
  EXPECT_EQ(ErrorOfResponse("200", "16", ""), "UNAUTHENTICATED: ");
  EXPECT_EQ(ErrorOfResponse("200", "17", "x"), "UNKNOWN: x");
  EXPECT_EQ(ErrorOfResponse("200", "-1", "x"), "UNKNOWN: x");
}

TEST(GrpcFieldsTest, ResponsesWithoutAStatusAreErrors) {
  EXPECT_EQ(ErrorOfResponse("200", "", ""),
            "INTERNAL: the response has no gRPC status");
  EXPECT_EQ(ErrorOfResponse("200", "fine", ""),
            "INTERNAL: the response has no gRPC status");
  EXPECT_EQ(ErrorOfResponse("200", "0", ""),
            "INTERNAL: the response is malformed");
}

TEST(GrpcFieldsTest, ServersWithoutGrpcAreNamedByTheirHttpStatus) {
  EXPECT_EQ(ErrorOfResponse("404", "", ""),
            "UNIMPLEMENTED: the server answers with HTTP status 404");
  EXPECT_EQ(ErrorOfResponse("503", "", ""),
            "UNAVAILABLE: the server answers with HTTP status 503");
  EXPECT_EQ(ErrorOfResponse("418", "", ""),
            "UNKNOWN: the server answers with HTTP status 418");
}

}  // namespace
}  // namespace distbench::http2
