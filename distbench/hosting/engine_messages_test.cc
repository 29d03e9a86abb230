// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_messages.h"

#include <sys/socket.h>

#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/hosting/engine_control.pb.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

class MessageSocketTest : public testing::Test {
 protected:
  MessageSocketTest() : ends_(*MessageSocket::MakePair()) {}

  static EngineCommand Stop(const std::string& reason) {
    EngineCommand command;
    command.mutable_stop()->set_reason(reason);
    return command;
  }

  std::pair<base::FileDescriptor, base::FileDescriptor> ends_;
};

TEST_F(MessageSocketTest, MessagesArriveWholeAndInOrder) {
  MessageSocket sender(std::move(ends_.first));
  MessageSocket receiver(std::move(ends_.second));
  // Larger than the socket's buffer.
  const std::string large(4 << 20, 'x');
  std::thread thread([&] {
    EXPECT_TRUE(sender.Send(Stop("first")));
    EXPECT_TRUE(sender.Send(EngineCommand()));
    EXPECT_TRUE(sender.Send(Stop(large)));
    sender.CloseForSending();
  });
  EngineCommand command;
  ASSERT_TRUE(receiver.Receive(command));
  EXPECT_EQ(command.stop().reason(), "first");
  command.Clear();
  ASSERT_TRUE(receiver.Receive(command));
  EXPECT_FALSE(command.has_stop());
  ASSERT_TRUE(receiver.Receive(command));
  EXPECT_EQ(command.stop().reason(), large);
  EXPECT_FALSE(receiver.Receive(command));
  thread.join();
}

TEST_F(MessageSocketTest, SendingToNobodyFailsAndRaisesNoSignal) {
  MessageSocket sender(std::move(ends_.first));
  ends_.second.Close();
  EXPECT_FALSE(sender.Send(Stop("anyone there?")));
  EXPECT_FALSE(sender.TrySend(Stop("anyone there?")));
}

TEST_F(MessageSocketTest, ACutMessageIsTheEnd) {
  const char length_and_no_content[] = {20};
  ASSERT_EQ(send(ends_.first.get(), length_and_no_content, 1, 0), 1);
  ends_.first.Close();
  MessageSocket receiver(std::move(ends_.second));
  EngineCommand command;
  EXPECT_FALSE(receiver.Receive(command));
}

TEST_F(MessageSocketTest, TrySendDoesNotWaitForAnotherSender) {
  MessageSocket sender(std::move(ends_.first));
  MessageSocket receiver(std::move(ends_.second));
  // Blocks until the message is received, because it exceeds the socket's
  // buffer.
  std::thread thread([&] { sender.Send(Stop(std::string(8 << 20, 'x'))); });
  // TrySend() succeeds until the other thread has begun.
  int sent_count = 0;
  while (sender.TrySend(Stop("me too"))) {
    ASSERT_LT(++sent_count, 1000);  // more would not fit
    absl::SleepFor(absl::Milliseconds(1));
  }
  EngineCommand command;
  for (int i = 0; i <= sent_count; ++i) ASSERT_TRUE(receiver.Receive(command));
  thread.join();
  EXPECT_TRUE(sender.TrySend(Stop("me too")));
}

}  // namespace
}  // namespace distbench::hosting
