#include "distbench/products/simulation/network/tcp.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

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

using AckTime = TcpReceiver::AckTime;

constexpr int64_t kMs = 1'000'000;

TcpSettings ReceiverSettings(SimulatedTransport::Kind kind) {
  SimulatedTransport transport;
  transport.set_kind(kind);
  transport.set_segment_bytes(1000);
  return MakeTcpSettings(transport);
}

class TcpReceiverTest : public testing::Test {
 protected:
  AckTime Get(int64_t offset, int64_t bytes, int64_t now_ns = kMs) {
    return receiver_.OnSegment(offset, bytes, false, now_ns, now_ns);
  }
  // Uses up the acknowledgements that come at once at the start, then leaves
  // nothing to acknowledge. Returns the next offset.
  int64_t GetPastTheStart() {
    for (int64_t i = 0; i < 16; ++i) {
      EXPECT_EQ(Get(i, 1), AckTime::kNow) << i;
      receiver_.OnAckSent();
    }
    return 16;
  }

  const TcpSettings settings_ = ReceiverSettings(SimulatedTransport::RENO);
  TcpReceiver receiver_{settings_};
};

TEST_F(TcpReceiverTest, DelaysUntilMoreThanOneSegmentIsThere) {
  const int64_t start = GetPastTheStart();
  EXPECT_EQ(Get(start, 1000), AckTime::kDelayed);
  EXPECT_EQ(Get(start + 1000, 1), AckTime::kNow);
  receiver_.OnAckSent();
  EXPECT_EQ(Get(start + 1001, 1000), AckTime::kDelayed);
  EXPECT_EQ(receiver_.next(), start + 2001);
}

TEST_F(TcpReceiverTest, AnswersMakeItDelayFromTheStart) {
  EXPECT_EQ(Get(0, 10), AckTime::kNow);
  receiver_.OnAckSent();
  receiver_.OnDataSent(2 * kMs);
  EXPECT_EQ(Get(10, 10, 3 * kMs), AckTime::kDelayed);
  // Nobody had anything to say after all.
  receiver_.OnAckDelayed();
  receiver_.OnAckSent();
  EXPECT_EQ(Get(20, 10, 4 * kMs), AckTime::kNow);
}

TEST_F(TcpReceiverTest, ALateAnswerIsNotOne) {
  EXPECT_EQ(Get(0, 10), AckTime::kNow);
  receiver_.OnAckSent();
  receiver_.OnDataSent(kMs + 40 * kMs);
  EXPECT_EQ(Get(10, 10, 50 * kMs), AckTime::kNow);
}

TEST_F(TcpReceiverTest, AcknowledgesAtOnceAgainAfterAPause) {
  const int64_t start = GetPastTheStart();
  EXPECT_EQ(Get(start, 10, 2 * kMs), AckTime::kDelayed);
  receiver_.OnAckSent();
  EXPECT_EQ(Get(start + 10, 10, 203 * kMs), AckTime::kNow);
}

TEST_F(TcpReceiverTest, SaysAtOnceThatSomethingIsMissingWasMissingOrCameTwice) {
  const int64_t start = GetPastTheStart();
  EXPECT_EQ(Get(start + 10, 10), AckTime::kNow);
  EXPECT_TRUE(receiver_.has_gap());
  EXPECT_EQ(receiver_.next(), start);
  EXPECT_EQ(Get(start, 10), AckTime::kNow);
  EXPECT_FALSE(receiver_.has_gap());
  EXPECT_EQ(receiver_.next(), start + 20);
  EXPECT_EQ(Get(start, 20), AckTime::kNow);
  EXPECT_EQ(receiver_.next(), start + 20);
}

TEST_F(TcpReceiverTest, EchoesTheFirstStampThatItHasNotAcknowledged) {
  Get(0, 10, 5 * kMs);
  Get(10, 10, 6 * kMs);
  EXPECT_EQ(receiver_.echoed_stamp_ns(), 5 * kMs);
  receiver_.OnAckSent();
  Get(20, 10, 7 * kMs);
  EXPECT_EQ(receiver_.echoed_stamp_ns(), 7 * kMs);
}

TEST(TcpReceiverMarksTest, ChangesOfMarksEndWhatIsAcknowledgedTogether) {
  const TcpSettings settings = ReceiverSettings(SimulatedTransport::DCTCP);
  TcpReceiver receiver(settings);
  EXPECT_FALSE(receiver.MustAckBefore(true));  // nothing to acknowledge
  receiver.OnSegment(0, 100, false, 1, 1);
  EXPECT_FALSE(receiver.MustAckBefore(false));
  EXPECT_TRUE(receiver.MustAckBefore(true));
  receiver.OnAckSent();
  receiver.OnSegment(100, 100, true, 1, 1);
  EXPECT_TRUE(receiver.marked());
  EXPECT_TRUE(receiver.MustAckBefore(false));
}

// Pieces of any size, in any order, several times.
TEST(TcpReceiverOrderTest, PutsRandomPiecesTogether) {
  constexpr int kBytes = 300;
  const TcpSettings settings = ReceiverSettings(SimulatedTransport::RENO);
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    TcpReceiver receiver(settings);
    std::vector<bool> has(kBytes, false);
    while (receiver.next() < kBytes) {
      const int begin = static_cast<int>(random() % kBytes);
      const int end = std::min<int>(kBytes, begin + 1 + random() % 30);
      receiver.OnSegment(begin, end - begin, false, 0, 0);
      std::fill(has.begin() + begin, has.begin() + end, true);
      const auto missing = std::find(has.begin(), has.end(), false);
      ASSERT_EQ(receiver.next(), missing - has.begin()) << "seed " << seed;
      ASSERT_EQ(receiver.has_gap(),
                std::find(missing, has.end(), true) != has.end());
    }
  }
}

}  // namespace
}  // namespace distbench::simulation
