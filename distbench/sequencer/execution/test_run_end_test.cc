// Tests test runs that end early.

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/sequencer/testing/test_run_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(TestRunTest, ANodeThatCanNotPrepareEndsTheTest) {
  nodes_[1]->SetAnswer(NodeCommand::kPrepare, [this](const NodeCommand&) {
    NodeMessage reply;
    CommandStatus& status = *reply.mutable_prepare_reply()->mutable_status();
    status.set_code(static_cast<int>(absl::StatusCode::kUnavailable));
    status.set_message("port in use");
    nodes_[1]->Say(std::move(reply));
  });
  const TestResult result = Run();
  EXPECT_THAT(result.run_info().failure(),
              AllOf(HasSubstr("node1 (host host-of-node1)"),
                    HasSubstr("prepare"), HasSubstr("port in use")));
  EXPECT_EQ(failure(), result.run_info().failure());
  for (int node : {0, 1, 2}) {
    EXPECT_THAT(nodes_[node]->CommandsOf(NodeCommand::kConnect), IsEmpty());
    ExpectReleased(node);
  }
}

// A node that dies during a step, and the words for that in the failure.
struct DeathCase {
  NodeCommand::CommandCase command;
  std::string when;
  bool keeps_results;
};

class NodeDeathTest : public TestRunTest,
                      public testing::WithParamInterface<DeathCase> {};

TEST_P(NodeDeathTest, EndsTheTestAndNamesTheNode) {
  DiesOn(1, GetParam().command);
  const TestResult result = Run();
  EXPECT_THAT(result.run_info().failure(),
              AllOf(HasSubstr("node1 (host host-of-node1) was lost"),
                    HasSubstr(GetParam().when), HasSubstr("killed")));
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).severity(), Finding::INVALID);
  EXPECT_EQ(result.run_info().findings(0).code(), "node_lost");
  ExpectReleased(0);
  ExpectReleased(2);
  if (GetParam().keeps_results) {
    EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));
  } else {
    EXPECT_THAT(observer_.chunks, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Steps, NodeDeathTest,
    testing::Values(DeathCase{NodeCommand::kPrepare, "prepared", false},
                    DeathCase{NodeCommand::kConnect, "connected", false},
                    DeathCase{NodeCommand::kStart, "started", true},
                    DeathCase{NodeCommand::kCollect, "collected", true}));

TEST_F(TestRunTest, ANodeThatIsLostBeforeTheTestEndsIt) {
  nodes_[0]->Die("gone already");
  EXPECT_THAT(Run().run_info().failure(), HasSubstr("gone already"));
  ExpectReleased(1);
}

TEST_F(TestRunTest, ALossDuringTheTrafficStopsTheOthers) {
  NeverFinishes(0);
  NeverFinishes(1);
  nodes_[2]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand& start) {
    nodes_[2]->Obey(start);
    nodes_[1]->Die("killed");
  });
  const TestResult result = Run();
  EXPECT_THAT(result.run_info().failure(), HasSubstr("node1"));
  const auto stops = nodes_[0]->CommandsOf(NodeCommand::kStop);
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_THAT(stops[0].stop().reason(), HasSubstr("node1"));
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));
  EXPECT_TRUE(result.run_info().has_end_timestamp_ns());
}

TEST_F(TestRunTest, LossesOfManyNodesAreOneFinding) {
  for (int i = 3; i < 40; ++i) {
    nodes_.push_back(std::make_shared<FakeNode>("node" + std::to_string(i)));
    spec_.shares.push_back(
        {.node = nodes_[i], .instances = {"s/" + std::to_string(i)}});
  }
  for (size_t i = 0; i < nodes_.size(); ++i) NeverFinishes(i);
  nodes_[39]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand& start) {
    nodes_[39]->Obey(start);
    for (int i = 5; i < 25; ++i) nodes_[i]->Die("the power failed");
  });
  const RunInfo info = Run().run_info();
  ASSERT_THAT(info.findings(), SizeIs(1));
  EXPECT_EQ(info.findings(0).message(),
            "20 nodes (node5-24; the first is node5 (host host-of-node5)) were "
            "lost during the traffic: the power failed");
  EXPECT_EQ(info.failure(), info.findings(0).message());
  EXPECT_EQ(failure(), info.failure());
  EXPECT_THAT(observer_.chunks, SizeIs(20));
}

// The test ends at the first loss, while the others have not been noticed yet.
TEST_F(TestRunTest, AllNodesThatAreLostWhileTheTestIsSetUpAreNamed) {
  DiesOn(0, NodeCommand::kConnect);
  DiesOn(2, NodeCommand::kRelease);
  const RunInfo info = Run().run_info();
  ASSERT_THAT(info.findings(), SizeIs(1));
  EXPECT_EQ(info.findings(0).message(),
            "node0 (host host-of-node0), node2 (host host-of-node2) were lost "
            "while the instances were connected: killed");
  EXPECT_EQ(info.failure(), info.findings(0).message());
  ExpectReleased(1);
}

TEST_F(TestRunTest, ALossAfterTheResultsIsNoFailure) {
  DiesOn(1, NodeCommand::kRelease);
  const TestResult result = Run();
  EXPECT_FALSE(result.run_info().has_failure());
  EXPECT_THAT(observer_.chunks, SizeIs(3));
}

TEST_F(TestRunTest, TestTimeoutStopsTheTrafficAndKeepsTheResults) {
  NeverFinishes(2);
  const TestResult result = Run();
  EXPECT_THAT(result.run_info().failure(),
              AllOf(HasSubstr("test_timeout"), HasSubstr("30s"),
                    HasSubstr("node2"), Not(HasSubstr("node1"))));
  EXPECT_THAT(nodes_[0]->CommandsOf(NodeCommand::kStop), IsEmpty());
  EXPECT_THAT(nodes_[2]->CommandsOf(NodeCommand::kStop), SizeIs(1));
  EXPECT_THAT(observer_.chunks, SizeIs(3));
  EXPECT_FALSE(nodes_[2]->disconnect_reason().has_value());
}

TEST_F(TestRunTest, ANodeThatDoesNotAnswerIsNamed) {
  nodes_[0]->SetAnswer(NodeCommand::kConnect, {});
  nodes_[2]->SetAnswer(NodeCommand::kConnect, {});
  EXPECT_THAT(
      Run().run_info().failure(),
      AllOf(HasSubstr("node0"), HasSubstr("node2"), Not(HasSubstr("node1")),
            HasSubstr("connect"), HasSubstr("30s")));
  // The node did answer the release.
  ExpectReleased(0);
}

TEST_F(TestRunTest, ANodeThatDoesNotStopIsDisconnected) {
  NeverFinishes(1);
  nodes_[1]->SetAnswer(NodeCommand::kStop, {});
  Run();
  ASSERT_TRUE(nodes_[1]->disconnect_reason().has_value());
  EXPECT_THAT(*nodes_[1]->disconnect_reason(), HasSubstr("end its traffic"));
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));
}

TEST_F(TestRunTest, ANodeThatSendsNoResultsIsDisconnected) {
  nodes_[1]->SetAnswer(NodeCommand::kCollect, {});
  const TestResult result = Run();
  EXPECT_THAT(result.run_info().failure(),
              AllOf(HasSubstr("node1"), HasSubstr("results")));
  EXPECT_TRUE(nodes_[1]->disconnect_reason().has_value());
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));
}

TEST_F(TestRunTest, ANodeThatDoesNotReleaseIsDisconnectedButTheTestIsGood) {
  nodes_[1]->SetAnswer(NodeCommand::kRelease, {});
  EXPECT_FALSE(Run().run_info().has_failure());
  EXPECT_TRUE(nodes_[1]->disconnect_reason().has_value());
}

TEST_F(TestRunTest, CancellationStopsTheTrafficAndKeepsTheResults) {
  NeverFinishes(0);
  nodes_[2]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand& start) {
    nodes_[2]->Obey(start);
    inbox_->Cancel(absl::CancelledError("the client has gone"));
  });
  const TestResult result = Run();
  EXPECT_TRUE(cancelled_);
  EXPECT_EQ(failure(), "the client has gone");
  EXPECT_EQ(result.run_info().failure(), "the client has gone");
  EXPECT_THAT(nodes_[0]->CommandsOf(NodeCommand::kStop), SizeIs(1));
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/1", "s/2"));
  for (int node : {0, 1, 2}) ExpectReleased(node);
}

TEST_F(TestRunTest, CancellationInTheMiddleOfAStepReleasesAtOnce) {
  const int64_t before_ns = clock_.MonotonicNs();
  nodes_[1]->SetAnswer(NodeCommand::kConnect, [this](const NodeCommand&) {
    inbox_->Cancel(absl::CancelledError("the client has gone"));
  });
  Run();
  EXPECT_EQ(clock_.MonotonicNs(), before_ns);
  EXPECT_THAT(nodes_[1]->CommandsOf(NodeCommand::kStart), IsEmpty());
  ExpectReleased(1);
}

TEST_F(TestRunTest, ResultsThatNobodyTakesCancelTheTest) {
  observer_.chunk_status = absl::CancelledError("the client is stuck");
  Run();
  EXPECT_TRUE(cancelled_);
  EXPECT_EQ(failure(), "the client is stuck");
  for (int node : {0, 1, 2}) ExpectReleased(node);
}

TEST_F(TestRunTest, ANodeThatOnlyServesCanEndTheTraffic) {
  nodes_[0]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand&) {
    NodeMessage reply;
    reply.mutable_start_reply();
    nodes_[0]->Say(std::move(reply));
  });
  nodes_[1]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand& c) {
    nodes_[1]->Obey(c);
    NodeMessage message;
    message.mutable_traffic_finished()->set_code(10);
    message.mutable_traffic_finished()->set_message("told to end");
    nodes_[1]->Say(std::move(message));
  });
  const TestResult result = Run();
  EXPECT_THAT(
      std::string(failure_.message()),
      AllOf(HasSubstr("node1"), HasSubstr("ended the traffic: told to end")));
  EXPECT_FALSE(result.run_info().overloaded());
  EXPECT_THAT(nodes_[0]->CommandsOf(NodeCommand::kStop), SizeIs(1));
  EXPECT_THAT(nodes_[1]->CommandsOf(NodeCommand::kCollect), SizeIs(1));
}

}  // namespace
}  // namespace distbench::sequencer
