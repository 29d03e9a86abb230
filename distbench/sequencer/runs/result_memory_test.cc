#include "distbench/sequencer/runs/result_memory.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using Room = ResultMemory::Room;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FakeResult final : public DroppableResult {
 public:
  FakeResult(std::string name, int64_t bytes, ResultMemory& memory,
             std::vector<std::string>& dropped)
      : name_(std::move(name)),
        bytes_(bytes),
        memory_(memory),
        dropped_(dropped) {}

  bool DropResult(bool cut_off) override {
    if (is_being_read && !cut_off) return false;
    dropped_.push_back(name_);
    memory_.Release(bytes_);
    return true;
  }

  bool is_being_read = false;

 private:
  const std::string name_;
  const int64_t bytes_;
  ResultMemory& memory_;
  std::vector<std::string>& dropped_;
};

class ResultMemoryTest : public testing::Test {
 protected:
  // Adds a result that has reserved its memory and ended.
  std::shared_ptr<FakeResult> Add(const std::string& name,
                                  const std::string& client, int64_t bytes) {
    EXPECT_EQ(memory_.Reserve(bytes), Room::kReserved);
    auto result = std::make_shared<FakeResult>(name, bytes, memory_, dropped_);
    memory_.AddDroppable(result, client, bytes);
    results_.push_back(result);
    return result;
  }

  ResultMemory memory_{100};
  std::vector<std::string> dropped_;
  std::vector<std::shared_ptr<FakeResult>> results_;
};

TEST_F(ResultMemoryTest, DropsTheOldestAndNoMoreThanItMust) {
  Add("a", "me", 40);
  Add("b", "me", 40);
  EXPECT_EQ(memory_.Reserve(20), Room::kReserved);
  EXPECT_THAT(dropped_, IsEmpty());
  EXPECT_EQ(memory_.Reserve(30), Room::kReserved);
  EXPECT_THAT(dropped_, ElementsAre("a"));
  EXPECT_EQ(memory_.used_bytes(), 90);
}

TEST_F(ResultMemoryTest, NobodyPushesOutWhatTakesLessThanHisOwn) {
  Add("modest", "you", 20);
  for (const char* name : {"a", "b", "c", "d"}) Add(name, "me", 30);
  EXPECT_THAT(dropped_, ElementsAre("a", "b"));
}

TEST_F(ResultMemoryTest, WhatDoesNotFitDropsAllAndReservesNothing) {
  Add("a", "me", 40);
  EXPECT_EQ(memory_.Reserve(101), Room::kNone);
  EXPECT_THAT(dropped_, ElementsAre("a"));
  EXPECT_EQ(memory_.used_bytes(), 0);
  memory_.ReserveAnyway(101);
  EXPECT_EQ(memory_.used_bytes(), 101);
}

TEST_F(ResultMemoryTest, WhatIsBeingReadIsWaitedForBeforeItIsCutOff) {
  Add("a", "me", 40)->is_being_read = true;
  const auto b = Add("b", "me", 40);
  EXPECT_EQ(memory_.Reserve(50), Room::kReserved);
  EXPECT_THAT(dropped_, ElementsAre("b"));
  EXPECT_EQ(memory_.Reserve(50), Room::kMayCome);
  EXPECT_EQ(memory_.used_bytes(), 90);
  // The result is still known.
  EXPECT_EQ(memory_.Reserve(50, /*cut_off_readers=*/true), Room::kReserved);
  EXPECT_THAT(dropped_, ElementsAre("b", "a"));
}

TEST_F(ResultMemoryTest, WhoWaitsHearsOfARelease) {
  EXPECT_EQ(memory_.Reserve(100), Room::kReserved);
  const int64_t seen = memory_.changes();
  EXPECT_FALSE(memory_.AwaitChange(seen, absl::ZeroDuration()));
  std::thread other([this] { memory_.Release(10); });
  EXPECT_TRUE(memory_.AwaitChange(seen, absl::InfiniteDuration()));
  other.join();
}

TEST_F(ResultMemoryTest, WhatIsGoneIsNotDropped) {
  Add("a", "me", 40);
  Add("b", "me", 40);
  results_.erase(results_.begin());
  memory_.Release(40);
  EXPECT_EQ(memory_.Reserve(70), Room::kReserved);
  EXPECT_THAT(dropped_, ElementsAre("b"));
}

}  // namespace
}  // namespace distbench::sequencer
