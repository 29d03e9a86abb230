#include "distbench/protocol/tcp/dial.h"

#include <sys/resource.h>

#include <atomic>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

TEST(DialTest, FilesThatHaveRunOutAreAnError) {
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old_limit), 0);
  rlimit none = old_limit;
  none.rlim_cur = 0;
  const std::atomic<bool> aborted = false;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status =
      DialAll({}, ConnectionSecurity(), absl::InfiniteFuture(), aborted);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old_limit), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("Too many open files"));
}

}  // namespace
}  // namespace distbench
