// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/node_session.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/protocol_versions.h"
#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RecordingStream : public CommandStream {
 public:
  void Send(NodeCommand command) override { sent.push_back(command); }
  void Close(const absl::Status& status) override { closed = status; }

  int64_t PingCount() const {
    return std::count_if(sent.begin(), sent.end(),
                         [](const NodeCommand& c) { return c.has_ping(); });
  }

  std::vector<NodeCommand> sent;
  absl::Status closed;  // OK: it is not
};

class RecordingEvents : public NodeEvents {
 public:
  absl::Status OnNodeMessage(NodeSession&, NodeMessage message) override {
    messages.push_back(message);
    return answer;
  }
  void OnNodeLost(NodeSession&, const std::string& reason) override {
    losses.push_back(reason);
  }

  absl::Status answer;
  std::vector<NodeMessage> messages;
  std::vector<std::string> losses;
};

class NodeSessionTest : public testing::Test {
 protected:
  NodeSessionTest() {
    NodeRegistration registration;
    registration.set_hostname("alpha");
    registration.set_version("1.0");
    registration.set_control_protocol(base::kControlProtocol);
    const absl::Status status =
        registry_.Register(registration, [&](const NodeConfig& config) {
          session_ = std::make_shared<NodeSession>(
              NodeSessionOptions{.config = config,
                                 .registration = registration},
              stream_, clock_, registry_);
          return session_;
        });
    EXPECT_TRUE(status.ok()) << status;
  }

  // Answers the last ping. The node's clock is 100 ms ahead.
  void Pong(int64_t round_trip_ns) {
    NodeMessage message;
    distbench::Pong& pong = *message.mutable_pong();
    pong.set_sequencer_timestamp_ns(clock_.UnixNs());
    pong.set_node_timestamp_ns(clock_.UnixNs() + round_trip_ns / 2 +
                               100'000'000);
    clock_.Advance(round_trip_ns);
    session_->OnMessage(std::move(message));
  }

  void BeatUntilSilent() {
    for (int i = 0; i < NodeSession::kSilentBeats; ++i) session_->Beat(1);
  }

  base::FakeClock clock_;
  NodeRegistry registry_;
  std::shared_ptr<RecordingStream> stream_ =
      std::make_shared<RecordingStream>();
  std::shared_ptr<RecordingEvents> events_ =
      std::make_shared<RecordingEvents>();
  std::shared_ptr<NodeSession> session_;
};

TEST_F(NodeSessionTest, WelcomesTheNodeBeforeAnythingElse) {
  ASSERT_FALSE(stream_->sent.empty());
  EXPECT_EQ(stream_->sent[0].welcome().node_alias(), "node0");
  EXPECT_EQ(stream_->sent[0].welcome().silence_timeout_ns(), 5'000'000'000);
}

TEST_F(NodeSessionTest, LearnsTheNodesClockFromAFewRoundTripsInARow) {
  EXPECT_FALSE(session_->clock_offset().has_value());
  for (int i = 0; i < 100 && i < stream_->PingCount(); ++i) {
    Pong(i == 3 ? 20'000 : 500'000);
  }
  EXPECT_GT(stream_->PingCount(), 3);
  EXPECT_LT(stream_->PingCount(), 100);
  const ClockOffset offset = session_->clock_offset().value();
  EXPECT_EQ(offset.offset_ns, 100'000'000);
  EXPECT_LE(offset.error_ns, 10'001);
}

TEST_F(NodeSessionTest, KnowsNoClockFromAnswersToWhatWasNotAsked) {
  NodeMessage message;
  message.mutable_pong()->set_sequencer_timestamp_ns(0);
  message.mutable_pong()->set_node_timestamp_ns(clock_.UnixNs());
  clock_.Advance(1000);
  session_->OnMessage(message);
  EXPECT_FALSE(session_->clock_offset().has_value()) << "a round trip of years";
  Pong(1000);
  EXPECT_LE(session_->clock_offset().value().error_ns, 501);
}

TEST_F(NodeSessionTest, HasOnePingAtATimeOnTheWay) {
  const int64_t pings = stream_->PingCount();
  session_->Beat(1);
  session_->Beat(1);
  EXPECT_EQ(stream_->PingCount(), pings);
}

TEST_F(NodeSessionTest, AmongManyNodesEachIsPingedMoreRarelyButTwiceInTime) {
  EXPECT_EQ(NodeSession::BeatsPerPing(0), 1);
  EXPECT_EQ(NodeSession::BeatsPerPing(1000), 1);
  EXPECT_EQ(NodeSession::BeatsPerPing(1001), 2);
  EXPECT_EQ(NodeSession::BeatsPerPing(10'000), 4);
  EXPECT_LE(2 * NodeSession::BeatsPerPing(1'000'000),
            NodeSession::kSilentBeats);
  EXPECT_LT(NodeSession::FirstPings(9999), NodeSession::FirstPings(0));

  for (int64_t i = 0; i < stream_->PingCount(); ++i) Pong(1000);
  const int64_t before = stream_->PingCount();
  for (int beat = 0; beat < 40; ++beat) {
    session_->Beat(4);
    EXPECT_FALSE(session_->is_silent()) << "no ping is late";
    if (stream_->sent.back().has_ping() && beat % 4 == 3) Pong(1000);
  }
  EXPECT_EQ(stream_->PingCount(), before + 10);
}

TEST_F(NodeSessionTest, ASilentNodeIsLost) {
  session_->Attach(events_);
  BeatUntilSilent();
  EXPECT_THAT(events_->losses, ElementsAre("nothing was heard for 5s"));
  EXPECT_THAT(std::string(stream_->closed.message()),
              HasSubstr("nothing was heard"));
  EXPECT_THAT(registry_.Nodes(), IsEmpty());
}

TEST_F(NodeSessionTest, IsLostBeforeTheTimeoutIsOver) {
  session_->Attach(events_);
  for (int i = 0; i < NodeSession::kBeatsPerTimeout - 2; ++i) session_->Beat(1);
  EXPECT_THAT(events_->losses, IsEmpty());
  session_->Beat(1);
  EXPECT_THAT(events_->losses, SizeIs(1));
}

TEST_F(NodeSessionTest, IsSilentWhileAPingIsNotAnswered) {
  EXPECT_FALSE(session_->is_silent());
  session_->Beat(1);
  EXPECT_FALSE(session_->is_silent());
  session_->Beat(1);
  EXPECT_TRUE(session_->is_silent());
  Pong(500'000);
  EXPECT_FALSE(session_->is_silent());
}

TEST_F(NodeSessionTest, AnyMessageIsASignOfLife) {
  session_->Attach(events_);
  for (int i = 0; i < 10 * NodeSession::kBeatsPerTimeout; ++i) {
    session_->Beat(1);
    NodeMessage progress;
    progress.mutable_progress();
    session_->OnMessage(std::move(progress));
  }
  EXPECT_THAT(events_->losses, IsEmpty());
}

TEST_F(NodeSessionTest, PassesMessagesToWhoeverIsAttached) {
  NodeMessage message;
  message.mutable_connect_reply();
  session_->OnMessage(message);
  session_->Attach(events_);
  session_->OnMessage(message);
  session_->Attach(nullptr);
  session_->OnMessage(message);
  EXPECT_THAT(events_->messages, SizeIs(1));
}

TEST_F(NodeSessionTest, PassesOnTheProgressThatComesWithAPong) {
  session_->Attach(events_);
  NodeMessage message;
  message.set_test_id(7);
  message.mutable_pong();
  session_->OnMessage(message);
  EXPECT_THAT(events_->messages, IsEmpty());
  message.mutable_pong()->mutable_progress()->set_succeeded_count(5);
  session_->OnMessage(message);
  ASSERT_THAT(events_->messages, SizeIs(1));
  EXPECT_EQ(events_->messages[0].test_id(), 7);
  EXPECT_EQ(events_->messages[0].progress().succeeded_count(), 5);
  EXPECT_FALSE(events_->messages[0].has_pong());
}

TEST_F(NodeSessionTest, IsLostOnce) {
  session_->Attach(events_);
  session_->OnEnd("closed");
  session_->Disconnect("too slow");
  EXPECT_THAT(events_->losses, ElementsAre("closed"));
}

TEST_F(NodeSessionTest, TellsOfALossThatCameBeforeTheListener) {
  session_->OnEnd("closed");
  session_->Attach(events_);
  EXPECT_THAT(events_->losses, ElementsAre("closed"));
}

TEST_F(NodeSessionTest, ANodeWhoseMessageIsNotTakenIsDisconnected) {
  const auto events = std::make_shared<RecordingEvents>();
  session_->Attach(events);
  events->answer = absl::ResourceExhaustedError("it sent too much");
  NodeMessage message;
  message.mutable_result_chunk();
  session_->OnMessage(message);
  EXPECT_THAT(events->losses, ElementsAre("it sent too much"));
  EXPECT_THAT(std::string(stream_->closed.message()),
              HasSubstr("it sent too much"));
  EXPECT_THAT(registry_.Nodes(), IsEmpty());
}

}  // namespace
}  // namespace distbench::sequencer
