// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests sequencers and nodes that are silent or send unexpected messages.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/hosts.h"
#include "distbench/base/protocol_versions.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "tests/control_plane/cluster.h"
#include "tests/control_plane/fake_sequencer.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A sequencer that welcomes nodes, announces a silence timeout, and then is
// silent.
class SilentSequencer final : public FakeSequencer {
 public:
  ~SilentSequencer() override { ShutDown(); }

  // Waits for the registrations of `count` sessions.
  std::vector<NodeRegistration> WaitForSessions(int count) {
    absl::MutexLock lock(&mutex_);
    const auto are_there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return static_cast<int>(registrations_.size()) >= count;
    };
    mutex_.AwaitWithTimeout(absl::Condition(&are_there), kGenerous);
    return registrations_;
  }

  grpc::Status NodeSession(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<NodeCommand, NodeMessage>* stream) override {
    NodeMessage message;
    stream->Read(&message);
    NodeCommand command;
    command.mutable_welcome()->set_node_id(4);
    command.mutable_welcome()->set_node_alias("node4");
    command.mutable_welcome()->set_silence_timeout_ns(100'000'000);
    stream->Write(command);
    {
      absl::MutexLock lock(&mutex_);
      registrations_.push_back(message.registration());
    }
    while (stream->Read(&message)) {
    }
    return grpc::Status::OK;
  }

 private:
  absl::Mutex mutex_;
  std::vector<NodeRegistration> registrations_ ABSL_GUARDED_BY(mutex_);
};

TEST(NodesTest, ASilentSequencerIsLeftAndTriedAgainUnderTheSameName) {
  SilentSequencer sequencer;
  Cluster cluster;
  node::NodeManagerOptions options;
  options.sequencer = sequencer.address();
  cluster.StartNode(options);
  const auto sessions = sequencer.WaitForSessions(2);
  ASSERT_GE(sessions.size(), 2);
  EXPECT_EQ(sessions[0].preassigned_node_id(), -1);
  EXPECT_EQ(sessions[1].preassigned_node_id(), 4);
  EXPECT_EQ(sessions[1].incarnation(), sessions[0].incarnation());
  cluster.node(0).Shutdown();
}

// A sequencer that refuses its first nodes, then welcomes one, ends its
// session, and refuses some more.
class FullSequencer final : public FakeSequencer {
 public:
  explicit FullSequencer(grpc::Status refusal) : refusal_(std::move(refusal)) {}
  ~FullSequencer() override { ShutDown(); }

  bool WaitForSessions(int count) {
    absl::MutexLock lock(&mutex_);
    const auto are_there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return sessions_ >= count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&are_there), kGenerous);
  }

  int sessions() {
    absl::MutexLock lock(&mutex_);
    return sessions_;
  }

  grpc::Status NodeSession(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<NodeCommand, NodeMessage>* stream) override {
    NodeMessage message;
    stream->Read(&message);
    {
      absl::MutexLock lock(&mutex_);
      if (++sessions_ != kWelcomed) return refusal_;
    }
    NodeCommand command;
    command.mutable_welcome()->set_node_alias("node0");
    stream->Write(command);
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "it is over");
  }

  static constexpr int kWelcomed = 3;

 private:
  const grpc::Status refusal_;
  absl::Mutex mutex_;
  int sessions_ ABSL_GUARDED_BY(mutex_) = 0;
};

// gRPC's error if a server has no memory left for incoming messages.
const grpc::Status kNoMemory(grpc::StatusCode::RESOURCE_EXHAUSTED,
                             "no memory left to receive messages");

TEST(NodesTest, ASequencerWithoutMemoryIsTriedAgain) {
  FullSequencer sequencer(kNoMemory);
  Cluster cluster;
  absl::Notification ended;
  node::NodeManagerOptions options;
  options.sequencer = sequencer.address();
  options.on_ended = [&](const absl::Status&) { ended.Notify(); };
  const auto node = cluster.TryStartNode(options);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ((*node)->alias(), "node0");
  // A node that was registered before does not give up, either.
  EXPECT_TRUE(sequencer.WaitForSessions(FullSequencer::kWelcomed + 2));
  EXPECT_FALSE(ended.HasBeenNotified());
  (*node)->Shutdown();
}

TEST(NodesTest, ASequencerThatStaysWithoutMemoryIsGivenUpInTime) {
  FullSequencer sequencer(kNoMemory);
  Cluster cluster;
  node::NodeManagerOptions options;
  options.sequencer = sequencer.address();
  options.register_timeout = absl::Milliseconds(50);
  const absl::Status status = cluster.TryStartNode(options).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("could not be registered"),
                    HasSubstr("within 50ms"), HasSubstr("no memory")));
}

TEST(NodesTest, ARefusalThatNoTimeHealsEndsTheNode) {
  FullSequencer sequencer(
      grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "another version"));
  Cluster cluster;
  node::NodeManagerOptions options;
  options.sequencer = sequencer.address();
  const absl::Status status = cluster.TryStartNode(options).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(sequencer.sessions(), 1);
}

// A node that sends only what the test tells it to send.
class RawNode {
 public:
  explicit RawNode(const Cluster& cluster)
      : stub_(DistBenchTestSequencer::NewStub(grpc::CreateChannel(
            cluster.address(), grpc::InsecureChannelCredentials()))),
        stream_(stub_->NodeSession(&context_)) {}
  ~RawNode() {
    context_.TryCancel();
    (void)Finish();
  }

  bool Register(const std::string& hostname = "alpha",
                const std::string& boot_id = "") {
    NodeMessage message;
    NodeRegistration& registration = *message.mutable_registration();
    registration.set_hostname(hostname);
    registration.set_boot_id(boot_id);
    registration.set_control_protocol(base::kControlProtocol);
    registration.set_incarnation(1);
    return stream_->Write(message);
  }

  bool Write(const NodeMessage& message) { return stream_->Write(message); }

  // Reads until the sequencer ends the session.
  grpc::Status Finish() {
    if (is_finished_) return status_;
    NodeCommand command;
    while (stream_->Read(&command)) {
      if (command.has_prepare()) prepare_ = command.prepare();
    }
    is_finished_ = true;
    return status_ = stream_->Finish();
  }

  // The last that was received when the session has ended.
  const std::optional<PrepareTest>& prepare() const { return prepare_; }

 private:
  std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<NodeMessage, NodeCommand>> stream_;
  bool is_finished_ = false;
  grpc::Status status_;
  std::optional<PrepareTest> prepare_;
};

TEST(NodesTest, ASilentNodeIsDropped) {
  sequencer::SequencerOptions options;
  options.node_silence_timeout = absl::Milliseconds(200);
  Cluster cluster(options);
  RawNode node(cluster);
  ASSERT_TRUE(node.Register());
  EXPECT_THAT(node.Finish().error_message(),
              HasSubstr("nothing was heard for 200ms"));
  EXPECT_TRUE(cluster.WaitForNodeCount(0));
}

TEST(NodesTest, ASilentNodeEndsTheTestThatUsesIt) {
  sequencer::SequencerOptions options;
  options.node_silence_timeout = absl::Milliseconds(200);
  Cluster cluster(options);
  RawNode silent(cluster);
  ASSERT_TRUE(silent.Register());
  ASSERT_TRUE(cluster.WaitForNodeCount(1));
  cluster.StartNode();
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("node0 (host alpha)"),
                    HasSubstr("nothing was heard for 200ms")));
}

// Behind a proxy on the sequencer's host, a node of another one seems to be
// near.
TEST(NodesTest, WhoComesOverLoopbackIsNotLocalForThatAlone) {
  for (const char* boot_id : {"", "another boot"}) {
    sequencer::SequencerOptions options;
    options.node_silence_timeout = absl::Milliseconds(200);
    Cluster cluster(options);
    RawNode silent(cluster);
    ASSERT_TRUE(silent.Register(base::Hostname(), boot_id));
    ASSERT_TRUE(cluster.WaitForNodeCount(1));
    cluster.StartNode();
    TestSequenceResults results;
    ASSERT_TRUE(
        cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
    silent.Finish();
    ASSERT_TRUE(silent.prepare().has_value());
    EXPECT_EQ(silent.prepare()->use_loopback(), *boot_id == '\0');
  }
}

TEST(NodesTest, AStreamOfWhichNoNodeComesIsEnded) {
  sequencer::SequencerOptions options;
  options.node_silence_timeout = absl::Milliseconds(200);
  Cluster cluster(options);
  RawNode stranger(cluster);
  const grpc::Status status = stranger.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("none came within 200ms"));
}

TEST(NodesTest, AFirstMessageThatIsNoRegistrationIsRefused) {
  Cluster cluster;
  RawNode node(cluster);
  NodeMessage message;
  message.mutable_pong();
  ASSERT_TRUE(node.Write(message));
  EXPECT_EQ(node.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(NodesTest, UnexpectedMessagesDoNoHarm) {
  Cluster cluster;
  RawNode node(cluster);
  ASSERT_TRUE(node.Register());
  NodeMessage message;
  message.set_test_id(1);
  message.mutable_collect_reply();
  EXPECT_TRUE(node.Write(message));
  message.mutable_result_chunk()->set_instance("nobody/0");
  EXPECT_TRUE(node.Write(message));
  ASSERT_TRUE(node.Register());
  EXPECT_TRUE(cluster.WaitForNodeCount(1));
}

}  // namespace
}  // namespace distbench
