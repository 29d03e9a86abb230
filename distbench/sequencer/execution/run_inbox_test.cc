// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/run_inbox.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

constexpr int64_t kBriefNs = 20'000'000;
constexpr int64_t kGenerousNs = 60'000'000'000;

class RunInboxTest : public testing::Test {
 protected:
  static int64_t In(int64_t duration_ns) {
    return base::RealClock().MonotonicNs() + duration_ns;
  }
  void PutProgress(int64_t count) {
    NodeMessage message;
    message.mutable_progress()->set_succeeded_count(count);
    EXPECT_TRUE(inbox_.OnNodeMessage(Nobody(), std::move(message)).ok());
  }
  void PutReply() {
    NodeMessage message;
    message.mutable_connect_reply();
    EXPECT_TRUE(inbox_.OnNodeMessage(Nobody(), std::move(message)).ok());
  }
  absl::Status PutChunk(int64_t bytes) {
    NodeMessage message;
    message.mutable_result_chunk()->set_instance(std::string(bytes, 'x'));
    return inbox_.OnNodeMessage(Nobody(), std::move(message));
  }
  // Only ever an address.
  static NodeSession& Nobody() {
    static int nobody = 0;
    return reinterpret_cast<NodeSession&>(nobody);
  }
  static bool IsProgress(const std::optional<RunEvent>& event) {
    return std::get<NodeSaid>(*event).message.has_progress();
  }

  RunInbox inbox_{base::RealClock()};
};

TEST_F(RunInboxTest, WaitsUntilTheDeadline) {
  const int64_t deadline_ns = In(kBriefNs);
  EXPECT_FALSE(inbox_.Next(deadline_ns).has_value());
  EXPECT_GE(base::RealClock().MonotonicNs(), deadline_ns - 1'000'000);
}

TEST_F(RunInboxTest, ProgressDoesNotEndTheWait) {
  PutProgress(1);
  PutProgress(2);
  const int64_t deadline_ns = In(kBriefNs);
  EXPECT_TRUE(IsProgress(inbox_.Next(deadline_ns)));
  EXPECT_GE(base::RealClock().MonotonicNs(), deadline_ns - 1'000'000);
  // It is over now.
  EXPECT_TRUE(IsProgress(inbox_.Next(deadline_ns)));
  EXPECT_FALSE(inbox_.Next(deadline_ns).has_value());
}

TEST_F(RunInboxTest, RepliesEndTheWaitAndKeepTheirPlaces) {
  PutProgress(1);
  absl::Notification waits;
  std::thread replier([&] {
    waits.WaitForNotification();
    PutReply();
  });
  waits.Notify();
  EXPECT_TRUE(IsProgress(inbox_.Next(In(kGenerousNs))));
  EXPECT_FALSE(IsProgress(inbox_.Next(In(kGenerousNs))));
  replier.join();
  // Once it was read, progress has to wait again.
  PutProgress(2);
  const int64_t deadline_ns = In(kBriefNs);
  EXPECT_TRUE(IsProgress(inbox_.Next(deadline_ns)));
  EXPECT_GE(base::RealClock().MonotonicNs(), deadline_ns - 1'000'000);
}

TEST_F(RunInboxTest, ACancellationComesFirst) {
  PutProgress(1);
  PutReply();
  inbox_.Cancel(absl::CancelledError("enough"));
  const auto event = inbox_.Next(In(kGenerousNs));
  ASSERT_TRUE(std::holds_alternative<RunCancelled>(*event));
  EXPECT_TRUE(IsProgress(inbox_.Next(In(kGenerousNs))));
  EXPECT_FALSE(IsProgress(inbox_.Next(In(kGenerousNs))));
}

TEST_F(RunInboxTest, ANodeThatGoesOnSendingWhileNobodyReadsIsRefused) {
  EXPECT_TRUE(PutChunk(kResultWindowBytes).ok());
  EXPECT_TRUE(PutChunk(kResultWindowBytes).ok());
  EXPECT_EQ(PutChunk(1).code(), absl::StatusCode::kResourceExhausted);
  // That is not a matter of what it says besides.
  PutReply();
  ASSERT_TRUE(inbox_.Next(In(kGenerousNs)).has_value());
  EXPECT_TRUE(PutChunk(1).ok());
}

TEST_F(RunInboxTest, AChunkMayExceedTheWindow) {
  EXPECT_TRUE(PutChunk(10 * kResultWindowBytes).ok());
  // The end of the result follows at once.
  PutReply();
  EXPECT_FALSE(PutChunk(1).ok());
  ASSERT_TRUE(inbox_.Next(In(kGenerousNs)).has_value());
  EXPECT_TRUE(PutChunk(1).ok());
}

}  // namespace
}  // namespace distbench::sequencer
