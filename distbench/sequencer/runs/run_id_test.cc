#include "distbench/sequencer/runs/run_id.h"

#include <string>

#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(RunIdTest, SaysWhenTheRunWasSubmitted) {
  base::FakeClock clock(0, 1'780'000'000 * kSecondNs);
  RunIds ids(clock);
  EXPECT_EQ(ids.Next(), "20260528-202640-000");
  EXPECT_EQ(ids.Next(), "20260528-202640-001");
  clock.Advance(kSecondNs);
  EXPECT_EQ(ids.Next(), "20260528-202641-000");
}

TEST(RunIdTest, EachSortsAfterTheOneBefore) {
  base::FakeClock clock(5000 * kSecondNs);
  RunIds ids(clock);
  std::string last;
  for (int i = 0; i < 3000; ++i) {
    if (i == 1500) clock.SetMonotonicNs(0);  // the clock is set back
    const std::string id = ids.Next();
    EXPECT_GT(id, last);
    EXPECT_TRUE(IsRunId(id)) << id;
    last = id;
  }
}

TEST(RunIdTest, FollowsTheIdsOfAnEarlierLife) {
  base::FakeClock clock(0, 1'780'000'000 * kSecondNs);
  RunIds ids(clock);
  ids.Follow("20260528-202640-041");
  ids.Follow("20250528-202640-500");
  EXPECT_EQ(ids.Next(), "20260528-202640-042");
  ids.Follow("20991399-999999-000");
  EXPECT_EQ(ids.Next(), "20260528-202640-043");
}

TEST(RunIdTest, NothingElseIsAnId) {
  EXPECT_TRUE(IsRunId("20260528-202640-041"));
  for (const char* text :
       {"", ".", "..", "20260528-202640", "20260528-202640-0411",
        "20260528-202640-04a", "20260528/202640-041", "20260528-202640-04 ",
        "../0528-202640-041"}) {
    EXPECT_FALSE(IsRunId(text)) << text;
  }
}

}  // namespace
}  // namespace distbench::sequencer
