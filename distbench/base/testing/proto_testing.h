// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_BASE_TESTING_PROTO_TESTING_H_
#define DISTBENCH_BASE_TESTING_PROTO_TESTING_H_

#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::base {

// Parses a text-format message; the test fails if that is impossible.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message))
      << text;
  return message;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TESTING_PROTO_TESTING_H_
