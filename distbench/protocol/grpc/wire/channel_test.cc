// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/wire/channel.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(TargetOf, NamesAddressesAsSuch) {
  EXPECT_EQ(TargetOf("10.1.2.3", 5), "ipv4:10.1.2.3:5");
  EXPECT_EQ(TargetOf("fd00::1", 5), "ipv6:[fd00::1]:5");
  EXPECT_EQ(TargetOf("host.example", 5), "dns:///host.example:5");
}

TEST(ToGrpcClock, IsTheSameTimeAndNeverEarlier) {
  const int64_t before_ns = base::NowNs();
  const gpr_timespec now = gpr_now(GPR_CLOCK_MONOTONIC);
  const int64_t after_ns = base::NowNs();
  EXPECT_LE(gpr_time_cmp(now, ToGrpcClock(after_ns)), 0);
  // Readings are rarely this far apart, and a version of gRPC is 5 s ahead.
  const gpr_timespec close = gpr_time_from_millis(100, GPR_TIMESPAN);
  EXPECT_LE(gpr_time_cmp(ToGrpcClock(before_ns), gpr_time_add(now, close)), 0);
}

TEST(JoinTargets, ListsAddressesOfOneFamily) {
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5"}).value(), "ipv4:10.1.2.3:5");
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5", "ipv4:10.1.2.4:6"}).value(),
            "ipv4:10.1.2.3:5,10.1.2.4:6");
  EXPECT_EQ(JoinTargets({"ipv6:[fd00::1]:5", "ipv6:[fd00::2]:6"}).value(),
            "ipv6:[fd00::1]:5,[fd00::2]:6");
}

TEST(JoinTargets, MapsIpv4AddressesWhereThereAreOthers) {
  EXPECT_EQ(JoinTargets({"ipv4:10.1.2.3:5", "ipv6:[fd00::2]:6"}).value(),
            "ipv6:[::ffff:10.1.2.3]:5,[fd00::2]:6");
}

TEST(JoinTargets, LooksNamesUp) {
  EXPECT_THAT(JoinTargets({"dns:///localhost:5"}).value(),
              AnyOf("ipv4:127.0.0.1:5", "ipv6:[::1]:5"));
  EXPECT_THAT(
      std::string(JoinTargets({"ipv4:10.1.2.3:5", "dns:///no-such.invalid:6"})
                      .status()
                      .message()),
      HasSubstr("no-such.invalid"));
  EXPECT_FALSE(JoinTargets({"nonsense"}).ok());
}

gpr_timespec Now() { return gpr_now(GPR_CLOCK_MONOTONIC); }

// Starts operations on a queue: waits, with a deadline, for another state of a
// channel that never changes its state.
class SetupQueueTest : public testing::Test {
 protected:
  SetupQueueTest() {
    grpc_init();
    grpc_channel_credentials* credentials = grpc_insecure_credentials_create();
    channel_ = grpc_channel_create("localhost:1", credentials, nullptr);
    grpc_channel_credentials_release(credentials);
  }
  ~SetupQueueTest() override {
    grpc_channel_destroy(channel_);
    grpc_shutdown();
  }

  void Start(SetupQueue& queue, absl::Duration duration, void* tag) {
    grpc_channel_watch_connectivity_state(channel_, GRPC_CHANNEL_IDLE,
                                          MonotonicDeadline(duration),
                                          queue.get(), tag);
  }

 private:
  grpc_channel* channel_;
};

TEST_F(SetupQueueTest, ReturnsTheTagOfWhatIsComplete) {
  SetupQueue queue;
  int tag = 0;
  Start(queue, absl::Milliseconds(1), &tag);
  EXPECT_EQ(queue.Next(), &tag);
}

TEST_F(SetupQueueTest, WaitsUntilTheDeadline) {
  SetupQueue queue;
  const gpr_timespec deadline = MonotonicDeadline(absl::Milliseconds(5));
  EXPECT_EQ(queue.Next(deadline), nullptr);
  EXPECT_GE(gpr_time_cmp(Now(), deadline), 0);
}

TEST_F(SetupQueueTest, ItsEndWaitsForWhatIsUnderWay) {
  const gpr_timespec before = Now();
  int tag = 0;
  {
    SetupQueue queue;
    Start(queue, absl::Milliseconds(5), &tag);
  }
  const gpr_timespec took = gpr_time_sub(Now(), before);
  EXPECT_GE(gpr_time_to_millis(took), 4);
}

TEST(MonotonicDeadlineTest, WhatIsPastIsNow) {
  const gpr_timespec before = Now();
  const gpr_timespec deadline = MonotonicDeadline(absl::InfinitePast());
  EXPECT_GE(gpr_time_cmp(deadline, before), 0);
  EXPECT_LE(gpr_time_cmp(deadline, Now()), 0);
}

TEST(MonotonicDeadlineTest, WhatIsEndlessIsAYear) {
  const gpr_timespec now = Now();
  const gpr_timespec deadline = MonotonicDeadline(absl::InfiniteFuture());
  EXPECT_NEAR(gpr_timespec_to_micros(gpr_time_sub(deadline, now)),
              365 * 24 * 3600 * 1e6, 10e6);
}

}  // namespace
}  // namespace distbench::protocol
