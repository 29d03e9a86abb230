// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_storage.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/testing/gated_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;

TEST(RunStorageTest, DoesTasksInOrderOnOneThread) {
  RunStorage storage(std::make_shared<GatedDisk>(nullptr));
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  const auto task = [&](int number) {
    return [&, number](RunDisk&) {
      done.push_back(number);
      threads.push_back(std::this_thread::get_id());
    };
  };
  storage.Post([&](RunDisk&) {
    done.push_back(0);
    storage.Post(task(3));
  });
  storage.AwaitIdle(absl::InfiniteDuration());
  storage.Post(task(1));
  storage.Post(task(2));
  ASSERT_TRUE(storage.AwaitIdle(absl::InfiniteDuration()));
  EXPECT_THAT(done, ElementsAre(0, 3, 1, 2));
  EXPECT_THAT(threads, ElementsAre(threads[0], threads[0], threads[0]));
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(RunStorageTest, ATaskThatTakesItsTimeDelaysNobodyWhoPosts) {
  RunStorage storage(std::make_shared<GatedDisk>(nullptr));
  absl::Notification may_go_on;
  storage.Post([&](RunDisk&) { may_go_on.WaitForNotification(); });
  storage.Post([](RunDisk&) {});
  EXPECT_FALSE(storage.AwaitIdle(absl::ZeroDuration()));
  may_go_on.Notify();
  EXPECT_TRUE(storage.AwaitIdle(absl::InfiniteDuration()));
}

TEST(RunStorageTest, DoesWhatIsLeftBeforeItEnds) {
  bool is_done = false;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> weak_held = held;
  {
    RunStorage storage(std::make_shared<GatedDisk>(nullptr));
    storage.Post([&storage, &is_done, held = std::move(held)](RunDisk&) {
      storage.Post([&is_done](RunDisk&) { is_done = true; });
    });
  }
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(weak_held.expired());
}

}  // namespace
}  // namespace distbench::sequencer
