#include "distbench/products/simulation/network/tcp_sender.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kSegment = 1000;
constexpr int64_t kRoundTripNs = 100'000;
constexpr int64_t kMinTimeoutNs = 200'000'000;

TcpSettings SenderSettings(SimulatedTransport::Kind kind) {
  SimulatedTransport transport;
  transport.set_kind(kind);
  transport.set_segment_bytes(kSegment);
  return MakeTcpSettings(transport);
}

class TcpSenderTest : public testing::TestWithParam<SimulatedTransport::Kind> {
 protected:
  TcpSenderTest() { sender_.Write(1'000'000, 0); }

  // Sends what it may, and returns how many segments that was.
  int SendAll() {
    int count = 0;
    for (; sender_.MaySend(); ++count) last_ = sender_.Next(now_ns_);
    return count;
  }
  void Ack(int64_t segments, bool marked = false) {
    sender_.OnAck({.offset = segments * kSegment,
                   .marked = marked,
                   .round_trip_ns = kRoundTripNs},
                  now_ns_);
  }
  double window() const { return sender_.window().bytes() / kSegment; }

  const TcpSettings settings_ = SenderSettings(GetParam());
  TcpSender sender_{settings_, kRoundTripNs};
  int64_t now_ns_ = 1000;
  TcpSegment last_;
};

using TcpRenoTest = TcpSenderTest;
INSTANTIATE_TEST_SUITE_P(, TcpRenoTest,
                         testing::Values(SimulatedTransport::RENO));
using TcpDctcpTest = TcpSenderTest;
INSTANTIATE_TEST_SUITE_P(, TcpDctcpTest,
                         testing::Values(SimulatedTransport::DCTCP));

TEST_P(TcpRenoTest, DoublesInSlowStart) {
  EXPECT_EQ(SendAll(), 10);
  for (int acked = 2; acked <= 10; acked += 2) Ack(acked);
  EXPECT_EQ(window(), 20);
  EXPECT_EQ(SendAll(), 20);
}

TEST_P(TcpRenoTest, AWindowThatIsNotUsedDoesNotGrow) {
  TcpSender sender(settings_, kRoundTripNs);
  for (int i = 1; i <= 100; ++i) {
    sender.Write(kSegment, now_ns_);
    while (sender.MaySend()) sender.Next(now_ns_);
    sender.OnAck({.offset = i * kSegment, .round_trip_ns = kRoundTripNs},
                 now_ns_);
  }
  EXPECT_EQ(sender.window().bytes(), 10 * kSegment);
}

// Segments 2 and 4 of ten are lost.
TEST_P(TcpRenoTest, RecoversFromTwoLossesAndHalvesOnce) {
  SendAll();
  Ack(2);
  EXPECT_EQ(SendAll(), 4);  // 12 under way: segments 2 to 13
  Ack(2);
  EXPECT_EQ(SendAll(), 1) << "limited transmit";
  Ack(2);
  EXPECT_EQ(SendAll(), 1);
  Ack(2);  // the third duplicate
  ASSERT_TRUE(sender_.MaySend());
  const TcpSegment repeated = sender_.Next(now_ns_);
  EXPECT_TRUE(repeated.is_repeated);
  EXPECT_EQ(repeated.offset, 2 * kSegment);
  EXPECT_EQ(window(), 14 / 2 + 3);

  Ack(4);  // partial: segment 4 is missing, too
  ASSERT_TRUE(sender_.MaySend());
  EXPECT_EQ(sender_.Next(now_ns_).offset, 4 * kSegment);
  Ack(16);
  EXPECT_LE(window(), 7);
  EXPECT_GE(window(), 2);
}

TEST_P(TcpRenoTest, ATimeoutSendsEverythingAgainAndBacksOff) {
  SendAll();
  EXPECT_EQ(sender_.deadline_ns(), now_ns_ + kMinTimeoutNs);
  now_ns_ = sender_.deadline_ns();
  sender_.OnTimeout(now_ns_);
  EXPECT_EQ(sender_.deadline_ns(), now_ns_ + 2 * kMinTimeoutNs);
  EXPECT_EQ(SendAll(), 1);
  EXPECT_EQ(last_.offset, 0);
  EXPECT_TRUE(last_.is_repeated);
  now_ns_ = sender_.deadline_ns();
  sender_.OnTimeout(now_ns_);
  EXPECT_EQ(sender_.deadline_ns(), now_ns_ + 4 * kMinTimeoutNs);
  EXPECT_EQ(SendAll(), 1);
  Ack(1);
  EXPECT_EQ(SendAll(), 2);
  EXPECT_EQ(sender_.deadline_ns(), now_ns_ + kMinTimeoutNs);
  // The receiver had the rest.
  Ack(10);
  EXPECT_EQ(SendAll(), 4);
  EXPECT_EQ(last_.offset, 13 * kSegment);
  EXPECT_FALSE(last_.is_repeated);
}

TEST_P(TcpRenoTest, DuplicatesOfWhatATimeoutRepeatedAreNoLoss) {
  SendAll();
  now_ns_ = sender_.deadline_ns();
  sender_.OnTimeout(now_ns_);
  SendAll();
  Ack(1);
  SendAll();
  const double before = window();
  for (int i = 0; i < 5; ++i) Ack(1);
  EXPECT_EQ(window(), before);
  EXPECT_FALSE(sender_.MaySend());
}

TEST_P(TcpRenoTest, HasNoDeadlineWithoutDataUnderWay) {
  TcpSender sender(settings_, kRoundTripNs);
  sender.Write(10, now_ns_);
  sender.Next(now_ns_);
  sender.OnAck({.offset = 10, .round_trip_ns = kRoundTripNs}, now_ns_);
  EXPECT_EQ(sender.deadline_ns(), TcpSender::kNoDeadline);
}

// As Linux: half of the window for each timeout, not below the initial one.
TEST_P(TcpRenoTest, APauseShrinksTheWindow) {
  TcpSender sender(settings_, kRoundTripNs);
  sender.Write(60 * kSegment, now_ns_);
  int64_t acked = 0;
  while (acked < 60) {
    int sent = 0;
    for (; sender.MaySend(); ++sent) sender.Next(now_ns_);
    for (int i = 0; i < sent; ++i) {
      sender.OnAck(
          {.offset = ++acked * kSegment, .round_trip_ns = kRoundTripNs},
          now_ns_);
    }
  }
  const double full = sender.window().bytes();
  EXPECT_GT(full, 40 * kSegment);
  sender.Write(1, now_ns_ + kMinTimeoutNs);
  EXPECT_EQ(sender.window().bytes(), full);
  sender.Next(now_ns_);
  sender.OnAck({.offset = 60 * kSegment + 1, .round_trip_ns = kRoundTripNs},
               now_ns_);
  sender.Write(1, now_ns_ + kMinTimeoutNs + 1);
  EXPECT_EQ(sender.window().bytes(), full / 2);
  sender.Next(now_ns_);
  sender.OnAck({.offset = 60 * kSegment + 2, .round_trip_ns = kRoundTripNs},
               now_ns_);
  sender.Write(1, now_ns_ + 100 * kMinTimeoutNs);
  EXPECT_EQ(sender.window().bytes(), 10 * kSegment);
}

// RFC 8257: all of a window marked reduces by alpha / 2, once.
TEST_P(TcpDctcpTest, MarksReduceOncePerWindowByHalfOfAlpha) {
  SendAll();
  EXPECT_EQ(sender_.window().alpha(), 1);
  Ack(2, true);
  EXPECT_EQ(window(), 5);
  for (int acked = 4; acked <= 10; acked += 2) Ack(acked, true);
  EXPECT_EQ(window(), 5);
  // Windows without marks: alpha decays by 1/16 each.
  double alpha = sender_.window().alpha();
  int acked = 10;
  while (acked < 60) {
    acked += SendAll();
    Ack(acked);
  }
  EXPECT_LT(sender_.window().alpha(), alpha * 0.8);
  alpha = sender_.window().alpha();
  const double before = window();
  SendAll();
  Ack(acked + 1, true);
  EXPECT_NEAR(window(), before * (1 - sender_.window().alpha() / 2), 1e-9);
}

}  // namespace
}  // namespace distbench::simulation
