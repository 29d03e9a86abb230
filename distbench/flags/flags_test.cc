#include "distbench/flags/flags.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::flags {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DurationTest, PlainNumbersAreSeconds) {
  EXPECT_EQ(*ParseDurationOrSeconds("90"), absl::Seconds(90));
  EXPECT_EQ(*ParseDurationOrSeconds("0.5"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDurationOrSeconds("0"), absl::ZeroDuration());
}

TEST(DurationTest, UnitsAreTakenAsTheyAre) {
  EXPECT_EQ(*ParseDurationOrSeconds("1m30s"), absl::Seconds(90));
  EXPECT_EQ(*ParseDurationOrSeconds("200ms"), absl::Milliseconds(200));
  EXPECT_EQ(*ParseDurationOrSeconds("5000us"), absl::Milliseconds(5));
}

TEST(DurationTest, OtherTextIsRefused) {
  for (const std::string text :
       {"", ".", "-1", "+1", "1e3", "1.2.3", "soon", "10 s", "1s30", "inf"}) {
    const auto duration = ParseDurationOrSeconds(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_THAT(std::string(duration.status().message()),
                AllOf(HasSubstr("\"" + text), HasSubstr("such as 500ms")));
  }
  EXPECT_THAT(
      std::string(ParseDurationOrSeconds("99999999999").status().message()),
      HasSubstr("too long"));
}

}  // namespace
}  // namespace distbench::flags
