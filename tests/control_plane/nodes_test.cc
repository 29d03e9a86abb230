// Nodes that come, go and misbehave.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/status_testing.h"
#include "distbench/base/version.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NodeManagerOptions Named(int id) {
  NodeManagerOptions options;
  options.preassigned_id = id;
  return options;
}

TEST(NodesTest, AreKnownByNameAndAttributes) {
  Cluster cluster;
  NodeManagerOptions options = Named(5);
  options.attributes = {{"rack", "a7"}};
  options.listen_address = "localhost";
  options.port = FindFreePort("localhost").value();
  EXPECT_EQ(cluster.StartNode(options).alias(), "node5");
  EXPECT_EQ(cluster.StartNode().alias(), "node0");
  const auto status = cluster.Connect()->GetStatus();
  ASSERT_TRUE(status.ok()) << status.status();
  ASSERT_THAT(status->nodes(), SizeIs(2));
  EXPECT_EQ(status->nodes(1).config().node_alias(), "node5");
  const NodeRegistration& registration = status->nodes(1).registration();
  EXPECT_EQ(registration.attributes(0).value(), "a7");
  EXPECT_EQ(registration.control_port(), options.port);
  EXPECT_FALSE(registration.hostname().empty());
  EXPECT_GE(registration.cpu_count(), 1);
}

TEST(NodesTest, ClocksOfThisHostAgree) {
  Cluster cluster;
  cluster.StartNode();
  EXPECT_TRUE(cluster.WaitForStatus([](const GetStatusResponse& status) {
    return status.nodes(0).has_clock_offset_ns();
  }));
}

TEST(NodesTest, ANameIsGivenOnce) {
  Cluster cluster;
  cluster.StartNode(Named(3));
  const absl::Status status = cluster.TryStartNode(Named(3)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Message(status), HasSubstr("node3 is registered already"));
}

TEST(NodesTest, ANodeThatLeavesIsForgotten) {
  Cluster cluster;
  cluster.StartNode(Named(3)).Shutdown();
  EXPECT_TRUE(cluster.WaitForNodeCount(0));
  EXPECT_EQ(cluster.StartNode(Named(3)).alias(), "node3");
}

TEST(NodesTest, SaysThatNoSequencerAnswers) {
  Cluster cluster;
  const std::string address = cluster.address();
  cluster.StopSequencer();
  NodeManagerOptions options;
  options.sequencer = address;
  options.register_timeout = absl::Milliseconds(300);
  const absl::Status status = cluster.TryStartNode(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), AllOf(HasSubstr(address), HasSubstr("300ms"),
                                     HasSubstr("Connection refused")));
}

TEST(NodesTest, MayComeBeforeTheSequencer) {
  Cluster cluster;
  cluster.StopSequencer();
  absl::StatusOr<std::unique_ptr<NodeManager>> node;
  std::thread starting([&] { node = cluster.TryStartNode(); });
  cluster.RestartSequencer();
  starting.join();
  EXPECT_TRUE(node.ok()) << node.status();
}

TEST(NodesTest, MayComeDuringATest) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  EXPECT_EQ(cluster.StartNode().alias(), "node2");
  // It has no part in the test, nor has its end.
  cluster.node(2).Shutdown();
  EXPECT_TRUE(cluster.WaitForNodeCount(2));
  run.Cancel();
  (void)run.Finish();
  EXPECT_EQ(cluster.engines().Count("client/0", EngineStep::kStart), 1);
}

// ---- Nodes that die ---------------------------------------------------------

class NodeDeathTest : public testing::TestWithParam<EngineStep> {};

TEST_P(NodeDeathTest, EndsTheTestAndLeavesTheOthersReady) {
  Cluster cluster;
  cluster.StartNodes(3);
  cluster.engines().BlockAt("client/1", GetParam());
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 2)}));
  ASSERT_TRUE(cluster.engines().WaitFor("client/1", GetParam()));
  std::thread killer([&] { cluster.node(1).Shutdown(); });
  EXPECT_TRUE(run.Finish().ok()) << run.Finish();
  cluster.engines().Unblock();
  killer.join();

  const RunInfo& info = run.result(0).run_info();
  EXPECT_THAT(info.failure(), AllOf(HasSubstr("node1"), HasSubstr("lost")));
  ASSERT_THAT(info.findings(), SizeIs(1));
  EXPECT_EQ(info.findings(0).code(), "node_lost");
  const auto& logs = run.result(0).service_logs().instance_logs();
  EXPECT_EQ(logs.count("client/1"), 0);
  if (GetParam() == EngineStep::kStart || GetParam() == EngineStep::kCollect) {
    EXPECT_EQ(logs.count("client/0"), 1);
    EXPECT_EQ(logs.count("server/0"), 1);
  }

  cluster.StartNode();
  TestSequenceResults results;
  EXPECT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("u", 2)}), results).ok());
  EXPECT_FALSE(results.test_results(0).run_info().has_failure());
}

INSTANTIATE_TEST_SUITE_P(Steps, NodeDeathTest,
                         testing::Values(EngineStep::kMake,
                                         EngineStep::kConnect,
                                         EngineStep::kStart,
                                         EngineStep::kCollect));

TEST(NodesTest, ADeathDuringTheTrafficStopsTheOthers) {
  Cluster cluster;
  cluster.StartNodes(3);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 2)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  cluster.node(1).Shutdown();
  ASSERT_TRUE(run.Finish().ok()) << run.Finish();
  EXPECT_THAT(run.result(0).run_info().failure(),
              AllOf(HasSubstr("node1"), HasSubstr("lost during the traffic")));
  const auto& logs = run.result(0).service_logs().instance_logs();
  ASSERT_EQ(logs.count("client/0"), 1);
  EXPECT_THAT(logs.at("client/0").engine_error_message(), HasSubstr("node1"));
}

TEST(NodesTest, CancellationInterruptsAStep) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().BlockAt("client/0", EngineStep::kConnect);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(cluster.engines().WaitFor("client/0", EngineStep::kConnect));
  run.Cancel();
  EXPECT_EQ(run.Finish().code(), absl::StatusCode::kCancelled);
  // The node hears of it although it is busy.
  EXPECT_TRUE(cluster.engines().WaitFor("client/0", EngineStep::kStop));
}

// ---- Nodes that leave -------------------------------------------------------

TEST(NodesTest, ANodeThatLeavesHandsOverWhatItMeasured) {
  Cluster cluster;
  cluster.StartNodes(3);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 2)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  cluster.node(1).Leave(kGenerous);
  ASSERT_TRUE(run.Finish().ok()) << run.Finish();
  const RunInfo& info = run.result(0).run_info();
  EXPECT_THAT(info.failure(),
              AllOf(HasSubstr("node1"), HasSubstr("was told to end")));
  EXPECT_THAT(info.findings(), IsEmpty());
  EXPECT_THAT(run.result(0).service_logs().instance_logs(), SizeIs(3));
  EXPECT_TRUE(cluster.WaitForNodeCount(2));
}

TEST(NodesTest, ANodeThatLeavesInterruptsTheStepThatItIsAt) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().BlockAt("client/0", EngineStep::kConnect);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(cluster.engines().WaitFor("client/0", EngineStep::kConnect));
  std::thread leaving([&] { cluster.node(0).Leave(kGenerous); });
  EXPECT_TRUE(cluster.engines().WaitFor("client/0", EngineStep::kStop));
  cluster.engines().Unblock();
  leaving.join();
  ASSERT_TRUE(run.Finish().ok()) << run.Finish();
  EXPECT_THAT(run.result(0).run_info().failure(), HasSubstr("told to end"));
  EXPECT_TRUE(cluster.WaitForNodeCount(1));
}

TEST(NodesTest, AnIdleNodeLeavesAtOnce) {
  Cluster cluster;
  cluster.StartNode().Leave(absl::InfiniteDuration());
  EXPECT_TRUE(cluster.WaitForNodeCount(0));
}

TEST(NodesTest, ANodeThatHasLostItsSequencerLeavesAtOnce) {
  Cluster cluster;
  NodeManager& node = cluster.StartNode();
  cluster.StopSequencer();
  node.Leave(absl::InfiniteDuration());
}

// ---- Sequencers that die ----------------------------------------------------

TEST(NodesTest, StopTheirTrafficWhenTheSequencerIsGone) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  cluster.StopSequencer();
  EXPECT_TRUE(cluster.engines().WaitFor("client/0", EngineStep::kShutdown));
  EXPECT_TRUE(cluster.engines().WaitFor("server/0", EngineStep::kShutdown));
  const absl::Status status = run.Finish();
  EXPECT_THAT(Message(status), HasSubstr("shutting down"));
}

TEST(NodesTest, ComeBackToASequencerThatWasRestarted) {
  Cluster cluster;
  cluster.StartNode(Named(7));
  cluster.StartNode();
  cluster.StopSequencer();
  cluster.RestartSequencer();
  EXPECT_TRUE(cluster.WaitForNodeCount(2));
  EXPECT_EQ(cluster.node(0).alias(), "node7");
  EXPECT_EQ(cluster.node(1).alias(), "node0");
  TestSequenceResults results;
  EXPECT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
  EXPECT_FALSE(results.test_results(0).run_info().has_failure());
}

// A sequencer that welcomes nodes, announcing that silence means something, and
// is silent.
class SilentSequencer final : public DistBenchTestSequencer::Service {
 public:
  SilentSequencer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("localhost:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~SilentSequencer() override {
    server_->Shutdown(absl::ToChronoTime(absl::Now()));
  }

  std::string address() const { return absl::StrCat("localhost:", port_); }

  // Waits for the registrations of so many sessions.
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
  int port_ = 0;
  absl::Mutex mutex_;
  std::vector<NodeRegistration> registrations_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> server_;
};

TEST(NodesTest, ASilentSequencerIsLeftAndTriedAgainUnderTheSameName) {
  SilentSequencer sequencer;
  Cluster cluster;
  NodeManagerOptions options;
  options.sequencer = sequencer.address();
  cluster.StartNode(options);
  const auto sessions = sequencer.WaitForSessions(2);
  ASSERT_GE(sessions.size(), 2);
  EXPECT_EQ(sessions[0].preassigned_node_id(), -1);
  EXPECT_EQ(sessions[1].preassigned_node_id(), 4);
  EXPECT_EQ(sessions[1].incarnation(), sessions[0].incarnation());
  cluster.node(0).Shutdown();
}

// ---- Nodes that misbehave ---------------------------------------------------

// A node that says only what the test makes it say.
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

  bool Register() {
    NodeMessage message;
    NodeRegistration& registration = *message.mutable_registration();
    registration.set_hostname("alpha");
    registration.set_version(kVersion);
    registration.set_incarnation(1);
    return stream_->Write(message);
  }

  bool Write(const NodeMessage& message) { return stream_->Write(message); }

  // Reads until the sequencer ends the session.
  grpc::Status Finish() {
    if (is_finished_) return status_;
    NodeCommand command;
    while (stream_->Read(&command)) {
    }
    is_finished_ = true;
    return status_ = stream_->Finish();
  }

 private:
  std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<NodeMessage, NodeCommand>> stream_;
  bool is_finished_ = false;
  grpc::Status status_;
};

TEST(NodesTest, ASilentNodeIsDropped) {
  SequencerOptions options;
  options.node_silence_timeout = absl::Milliseconds(200);
  Cluster cluster(options);
  RawNode node(cluster);
  ASSERT_TRUE(node.Register());
  EXPECT_THAT(node.Finish().error_message(),
              HasSubstr("it said nothing for 200ms"));
  EXPECT_TRUE(cluster.WaitForNodeCount(0));
}

TEST(NodesTest, ASilentNodeEndsTheTestThatUsesIt) {
  SequencerOptions options;
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
                    HasSubstr("said nothing for 200ms")));
}

TEST(NodesTest, AStreamOfWhichNoNodeComesIsEnded) {
  SequencerOptions options;
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

// ---- Addresses --------------------------------------------------------------

TEST(AddressesTest, APortIsUsedOnce) {
  Cluster cluster;
  SequencerOptions options;
  options.port = cluster.sequencer().port();
  for (const char* address : {"", "localhost", "127.0.0.1"}) {
    options.listen_address = address;
    const absl::Status status = SequencerServer::Start(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
    EXPECT_THAT(Message(status), HasSubstr(absl::StrCat(options.port)));
  }
}

TEST(AddressesTest, ClientsSayThatNobodyListens) {
  Cluster cluster;
  cluster.StopSequencer();
  const absl::Status status = TestClient::Connect(cluster.address()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr(absl::StrCat("nothing listens at ",
                                                      cluster.address())));
}

TEST(AddressesTest, ClientsSayThatAHostIsNotKnown) {
  const absl::Status status =
      TestClient::Connect("no-such-host.invalid:10000").status();
  EXPECT_THAT(Message(status), HasSubstr("no-such-host.invalid:10000"));
  EXPECT_FALSE(status.ok());
}

TEST(AddressesTest, ASequencerListensOnAllInterfacesIfNotTold) {
  SequencerOptions options;
  options.port = 0;
  const auto sequencer = SequencerServer::Start(options);
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  EXPECT_TRUE(
      TestClient::Connect(absl::StrCat("127.0.0.1:", (*sequencer)->port()))
          .ok());
}

}  // namespace
}  // namespace distbench
