#include "distbench/products/simulation/network/tcp_receiver.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

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
