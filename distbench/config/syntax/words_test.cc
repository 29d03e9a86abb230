#include "distbench/config/syntax/words.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

TEST(ErrorCodeTest, KnowsTheFirstAndTheLast) {
  EXPECT_TRUE(CheckErrorCode("CANCELLED").ok());
  EXPECT_TRUE(CheckErrorCode("UNAUTHENTICATED").ok());
}

TEST(ErrorCodeTest, SaysWhatWouldBeRight) {
  EXPECT_THAT(std::string(CheckErrorCode("UNAVAILABEL").message()),
              HasSubstr("did you mean \"UNAVAILABLE\"?"));
  for (const char* wrong : {"OK", "", "unavailable ", "14"}) {
    EXPECT_FALSE(CheckErrorCode(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace distbench::config
