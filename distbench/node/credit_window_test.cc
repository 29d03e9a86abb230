#include "distbench/node/credit_window.h"

#include <thread>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

TEST(CreditWindowTest, WaitsForTheReceiver) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(6));
  EXPECT_TRUE(window.Acquire(4));
  absl::Notification acquired;
  std::thread sender([&] {
    EXPECT_TRUE(window.Acquire(5));
    acquired.Notify();
  });
  EXPECT_FALSE(acquired.HasBeenNotified());
  window.Release(6);
  acquired.WaitForNotification();
  sender.join();
}

TEST(CreditWindowTest, LetsPassWhatExceedsTheWholeWindow) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(100));
  window.Release(100);
  EXPECT_TRUE(window.Acquire(10));
}

TEST(CreditWindowTest, CloseReleasesWhoWaits) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(10));
  std::thread sender([&] { EXPECT_FALSE(window.Acquire(1)); });
  window.Close();
  sender.join();
  EXPECT_FALSE(window.Acquire(1));
}

}  // namespace
}  // namespace distbench::node
