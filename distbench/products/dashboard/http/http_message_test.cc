// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/dashboard/http/http_message.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::dashboard {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(TargetTest, SplitsAndDecodesTheQueryOnly) {
  const auto target = SplitTarget("/a%20b?x=1%2B+2&y&x=%C3%A4&z=a=b");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->path, "/a%20b");
  EXPECT_THAT(target->parameters,
              ElementsAre(Pair("x", "1+ 2"), Pair("x", "\xC3\xA4"),
                          Pair("y", ""), Pair("z", "a=b")));
}

TEST(TargetTest, RefusesWhatNoPageOfOursSends) {
  for (const char* text : {"", "http://a/", "*", "/?a=%", "/?a=%4", "/?a=%zz",
                           "/?a=%00", "/?a=%0d%0aX: y", "/?%0A=1"}) {
    EXPECT_FALSE(SplitTarget(text).ok()) << text;
  }
}

}  // namespace
}  // namespace distbench::dashboard
