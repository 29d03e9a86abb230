// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/grpc_calls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(GrpcStatusTest, CodeAndMessageStay) {
  const grpc::Status status =
      ToGrpcStatus(absl::NotFoundError("two\nlines, 100%"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "two\nlines, 100%");
  EXPECT_EQ(ToAbslStatus(status), absl::NotFoundError("two\nlines, 100%"));
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(ToAbslStatus(grpc::Status::OK).ok());
}

TEST(GrpcStatusTest, ALongListOfProblemsIsCutAtALineAndCounted) {
  std::string message;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&message, i == 0 ? "" : "\n", std::string(97, 'x'));
  }
  const std::string shortened = ShortenedMessage(message);
  // Each line takes 97 characters and a line end of three.
  EXPECT_THAT(shortened, StartsWith(message.substr(0, 59 * 98 + 97)));
  EXPECT_THAT(shortened,
              EndsWith("\n... and 140 more lines; distbench check_test shows "
                       "all problems of tests"));
}

TEST(GrpcStatusTest, WhatHasNoLinesIsCutAnywhere) {
  EXPECT_THAT(ShortenedMessage(std::string(100'000, 'x')), SizeIs(6'003));
  // Encoded characters count with their encoded size.
  EXPECT_THAT(ShortenedMessage(std::string(100'000, '\xff')), SizeIs(2'003));
}

}  // namespace
}  // namespace distbench::base
