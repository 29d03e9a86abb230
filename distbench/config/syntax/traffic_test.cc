#include "distbench/config/syntax/traffic.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<int64_t> TimeoutOf(const std::string& value) {
  DistributedSystemDescription test;
  (*test.mutable_attributes())[kTestTimeoutAttribute] = value;
  return TestTimeoutSeconds(test);
}

TEST(TestTimeout, IsAnHourUnlessTheAttributeSaysOtherwise) {
  EXPECT_EQ(*TestTimeoutSeconds({}), 3600);
  EXPECT_EQ(*TimeoutOf("150"), 150);
  EXPECT_EQ(*TimeoutOf("1"), 1);
  EXPECT_EQ(*TimeoutOf("1000000000"), 1'000'000'000);
}

TEST(TestTimeout, RefusesWhatIsNoNumberOfSeconds) {
  for (const char* value : {"", "0", "-1", "30s", "1.5", "1e3", "1000000001",
                            "99999999999999999999"}) {
    const auto timeout = TimeoutOf(value);
    EXPECT_EQ(timeout.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(timeout.status().message()),
                HasSubstr("must be a whole number of seconds"))
        << value;
  }
}

}  // namespace
}  // namespace distbench::config
