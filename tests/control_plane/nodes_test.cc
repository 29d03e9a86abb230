// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests nodes that come and go.

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::SizeIs;

node::NodeManagerOptions Named(int id) {
  node::NodeManagerOptions options;
  options.preassigned_id = id;
  return options;
}

TEST(NodesTest, AreKnownByNameAndAttributes) {
  Cluster cluster;
  node::NodeManagerOptions options = Named(5);
  options.attributes = {{"rack", "a7"}};
  options.listen_address = "localhost";
  options.port = base::FindFreePort("localhost").value();
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
  EXPECT_THAT(base::Message(status), HasSubstr("node3 is registered already"));
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
  node::NodeManagerOptions options;
  options.sequencer = address;
  options.register_timeout = absl::Milliseconds(300);
  const absl::Status status = cluster.TryStartNode(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr(address), HasSubstr("300ms"),
                    HasSubstr("Connection refused")));
}

TEST(NodesTest, MayComeBeforeTheSequencer) {
  Cluster cluster;
  cluster.StopSequencer();
  absl::StatusOr<std::unique_ptr<node::NodeManager>> node;
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
  // The new node takes no part in the test, and may leave.
  cluster.node(2).Shutdown();
  EXPECT_TRUE(cluster.WaitForNodeCount(2));
  run.Cancel();
  (void)run.Finish();
  EXPECT_EQ(cluster.engines().Count("client/0", hosting::EngineStep::kStart),
            1);
}

// ---- Nodes that die ---------------------------------------------------------

class NodeDeathTest : public testing::TestWithParam<hosting::EngineStep> {};

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
  // On a busy host, it may also have been late.
  EXPECT_THAT(info.findings(),
              Contains(Property(&Finding::code, "node_lost")).Times(1));
  const auto& logs = run.result(0).service_logs().instance_logs();
  EXPECT_EQ(logs.count("client/1"), 0);
  if (GetParam() == hosting::EngineStep::kStart ||
      GetParam() == hosting::EngineStep::kCollect) {
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
                         testing::Values(hosting::EngineStep::kMake,
                                         hosting::EngineStep::kConnect,
                                         hosting::EngineStep::kStart,
                                         hosting::EngineStep::kCollect));

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
  cluster.engines().BlockAt("client/0", hosting::EngineStep::kConnect);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kConnect));
  run.Cancel();
  // The node is told although it is busy.
  EXPECT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kStop));
  // Otherwise the sequencer would wait for this node until the timeout.
  cluster.engines().Unblock();
  EXPECT_EQ(run.Finish().code(), absl::StatusCode::kCancelled);
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
  // The node was not lost. On a busy host it may have started late.
  EXPECT_THAT(info.findings(), Each(Property(&Finding::code, "late_start")));
  EXPECT_THAT(run.result(0).service_logs().instance_logs(), SizeIs(3));
  EXPECT_TRUE(cluster.WaitForNodeCount(2));
}

TEST(NodesTest, ANodeThatLeavesInterruptsTheStepThatItIsAt) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().BlockAt("client/0", hosting::EngineStep::kConnect);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kConnect));
  std::thread leaving([&] { cluster.node(0).Leave(kGenerous); });
  EXPECT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kStop));
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
  node::NodeManager& node = cluster.StartNode();
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
  EXPECT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kShutdown));
  EXPECT_TRUE(
      cluster.engines().WaitFor("server/0", hosting::EngineStep::kShutdown));
  const absl::Status status = run.Finish();
  EXPECT_THAT(base::Message(status), HasSubstr("shutting down"));
}

TEST(NodesTest, EndWhenTheirSequencerStaysAway) {
  absl::Status end;
  absl::Notification has_ended;
  Cluster cluster;
  node::NodeManagerOptions options = Named(7);
  options.reconnect_timeout = absl::Milliseconds(300);
  options.on_ended = [&](absl::Status status) {
    end = std::move(status);
    has_ended.Notify();
  };
  cluster.StartNode(std::move(options));
  node::NodeManager& patient = cluster.StartNode();
  cluster.StopSequencer();
  ASSERT_TRUE(has_ended.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_TRUE(absl::IsUnavailable(end));
  EXPECT_THAT(base::Message(end), HasSubstr("node7 has lost"));
  cluster.RestartSequencer();
  EXPECT_TRUE(cluster.WaitForNodeCount(1));
  EXPECT_EQ(patient.alias(), "node0");
}

TEST(NodesTest, EndWithTheirSequencerIfItSaysSo) {
  absl::Notification has_ended;
  Cluster cluster;
  node::NodeManagerOptions options;
  options.on_ended = [&](const absl::Status& status) {
    EXPECT_EQ(status, absl::OkStatus());
    has_ended.Notify();
  };
  cluster.StartNode(std::move(options));
  EXPECT_TRUE(cluster.sequencer().EndNodes(kGenerous));
  EXPECT_TRUE(has_ended.WaitForNotificationWithTimeout(kGenerous));
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

}  // namespace
}  // namespace distbench
