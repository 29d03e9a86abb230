// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/test_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/sequencer/testing/test_run_testing.h"
#include "distbench/stats/log_histogram.h"
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
using ::testing::Property;
using ::testing::SizeIs;

TEST_F(TestRunTest, TakesEveryNodeThroughAllSteps) {
  const TestResult result = Run();
  EXPECT_TRUE(failure_.ok()) << failure_;
  for (const auto& node : nodes_) {
    std::vector<NodeCommand::CommandCase> kinds;
    for (const NodeCommand& command : node->commands()) {
      EXPECT_EQ(command.test_id(), 7);
      kinds.push_back(command.command_case());
    }
    EXPECT_THAT(kinds, ElementsAre(NodeCommand::kPrepare, NodeCommand::kConnect,
                                   NodeCommand::kStart, NodeCommand::kCollect,
                                   NodeCommand::kRelease));
  }
  EXPECT_TRUE(observer_.started);
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/1", "s/2"));
  EXPECT_EQ(observer_.progress.back(), 30);

  EXPECT_EQ(result.run_info().random_seed(), 99);
  EXPECT_FALSE(result.run_info().has_failure());
  EXPECT_EQ(result.traffic_config().services(0).name(), "s");
  EXPECT_THAT(result.resource_usage_logs().node_usages(), SizeIs(3));
  EXPECT_TRUE(result.resource_usage_logs().has_test_sequencer_usage());
  const auto& placement = result.placement().service_endpoints();
  ASSERT_THAT(placement, SizeIs(3));
  EXPECT_EQ(placement.at("s/2").node_alias(), "node2");
  EXPECT_EQ(placement.at("s/2").endpoint_address(), "address-of-s/2");
}

// Each node gets a copy of the test. Copies for thousands of nodes at once
// would need more memory than there is.
TEST_F(TestRunTest, FewCopiesOfALargeTestAreOnTheWayAtOnce) {
  spec_.prepare_bytes = 1;
  nodes_[0]->SetAnswer(NodeCommand::kPrepare, {});
  Run();
  EXPECT_THAT(failure_.message(), HasSubstr("node0 (host host-of-node0) did "
                                            "not prepare"));
  EXPECT_THAT(nodes_[0]->commands(), SizeIs(2)) << "prepare and release";
  for (const int node : {1, 2}) {
    EXPECT_THAT(nodes_[node]->commands(), SizeIs(0));
    EXPECT_FALSE(nodes_[node]->disconnect_reason().has_value())
        << "it has nothing to release";
  }
}

TEST_F(TestRunTest, SendsNodesTheEndpointsThatTheyNeedAndNoMore) {
  Run();
  const NodeCommand command =
      nodes_[2]->CommandsOf(NodeCommand::kConnect).front();
  const auto& endpoints = command.connect().endpoints().service_endpoints();
  ASSERT_THAT(endpoints, SizeIs(1));
  EXPECT_EQ(endpoints.at("s/0").endpoint_address(), "address-of-s/0");
}

TEST_F(TestRunTest, AllNodesStartAtTheSameTimeThatIsYetToCome) {
  const int64_t before_ns = clock_.UnixNs();
  const TestResult result = Run();
  const int64_t start_ns = result.run_info().start_timestamp_ns();
  EXPECT_GT(start_ns, before_ns);
  EXPECT_LT(start_ns, before_ns + absl::ToInt64Nanoseconds(absl::Seconds(1)));
  for (const auto& node : nodes_) {
    EXPECT_EQ(node->CommandsOf(NodeCommand::kStart)
                  .front()
                  .start()
                  .start_timestamp_ns(),
              start_ns);
  }
}

TEST_F(TestRunTest, CorrectsClocksThatAreKnownToDiffer) {
  for (int i = 3; i < 6; ++i) AddNode(/*is_local=*/false);
  nodes_[4]->ShowClock({.offset_ns = 100, .error_ns = 200});
  nodes_[5]->ShowClock({.offset_ns = -5'000'000'000, .error_ns = 200});
  const TestResult result = Run();
  const auto correction = [this](int node) {
    return nodes_[node]
        ->CommandsOf(NodeCommand::kPrepare)
        .front()
        .prepare()
        .clock_offset_ns();
  };
  EXPECT_EQ(correction(3), 0);
  EXPECT_EQ(correction(4), 0);
  EXPECT_EQ(correction(5), -5'000'000'000);
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "clock_offset");
  EXPECT_THAT(result.run_info().findings(0).message(), HasSubstr("node5"));
  const auto& offsets = result.run_info().clock_offsets();
  EXPECT_THAT(offsets, SizeIs(2)) << "that of node3 was never measured";
  EXPECT_EQ(offsets.at("node4").error_ns(), 200);
  EXPECT_EQ(offsets.at("node5").offset_ns(), -5'000'000'000);
}

TEST_F(TestRunTest, SaysWhatRan) {
  spec_.test.set_name("this one");
  const RunInfo info = Run().run_info();
  EXPECT_EQ(info.config_hash().size(), 16u);
  EXPECT_EQ(info.random_seed(), 99u);
  EXPECT_TRUE(info.clock_offsets().empty()) << "local nodes have our clock";
}

TEST_F(TestRunTest, AddsUpWhatNodesMeasuredLately) {
  for (int node : {0, 1}) {
    nodes_[node]->SetAnswer(NodeCommand::kStart, [this, node](const auto&) {
      NodeMessage reply;
      reply.mutable_start_reply();
      nodes_[node]->Say(std::move(reply));
      for (int report = 1; report <= 2; ++report) {
        NodeMessage message;
        TrafficProgress& progress = *message.mutable_progress();
        progress.set_succeeded_count(10 * report);
        progress.set_offered_count(20 * report);
        stats::LogHistogram times;
        times.Record(100);
        results::EncodeHistogram(times,
                                 *progress.mutable_recent_service_time_ns());
        RecentRpc& rpc = *progress.add_recent_rpcs();
        rpc.set_rpc_name("query");
        rpc.set_succeeded_count(3);
        nodes_[node]->Say(std::move(message));
      }
      NodeMessage finished;
      finished.mutable_traffic_finished();
      nodes_[node]->Say(std::move(finished));
    });
  }
  Run();
  ASSERT_FALSE(observer_.all_progress.empty());
  const TrafficProgress& progress = observer_.all_progress.back();
  EXPECT_EQ(progress.offered_count(), 80) << "totals replace totals";
  EXPECT_EQ(progress.recent_service_time_ns().sum(), 400)
      << "what is recent adds up";
  ASSERT_EQ(progress.recent_rpcs_size(), 1);
  EXPECT_EQ(progress.recent_rpcs(0).succeeded_count(), 12);
}

TEST_F(TestRunTest, KeepsTheResourcesOfNodes) {
  nodes_[1]->SetAnswer(NodeCommand::kCollect, [this](const auto&) {
    NodeMessage reply;
    CollectReply& collected = *reply.mutable_collect_reply();
    collected.mutable_node_resources()->add_samples()->set_host_cpu_ns(5);
    nodes_[1]->Say(std::move(reply));
  });
  const TestResult result = Run();
  EXPECT_EQ(result.resource_usage_logs()
                .node_resources()
                .at("node1")
                .samples(0)
                .host_cpu_ns(),
            5);
}

// Together they can be larger than any message.
TEST_F(TestRunTest, KeepsNoMoreOfTheResourcesOfNodesThanThereIsRoomFor) {
  for (const auto& node : nodes_) {
    node->SetAnswer(NodeCommand::kCollect, [&node](const auto&) {
      NodeMessage reply;
      NodeResources& resources =
          *reply.mutable_collect_reply()->mutable_node_resources();
      resources.mutable_host()->set_kernel("6.1");
      for (int i = 0; i < 100; ++i) resources.add_samples()->set_host_cpu_ns(1);
      node->Say(std::move(reply));
    });
  }
  spec_.resource_bytes = 900;  // of 2 nodes
  const TestResult result = Run();
  const auto& resources = result.resource_usage_logs().node_resources();
  EXPECT_THAT(resources.at("node1").samples(), SizeIs(100));
  EXPECT_THAT(resources.at("node2").samples(), SizeIs(0));
  EXPECT_EQ(resources.at("node2").host().kernel(), "6.1");
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "resources_dropped");
  EXPECT_THAT(result.run_info().findings(0).message(),
              HasSubstr("for node2 (host host-of-node2), because"));
}

TEST_F(TestRunTest, UsesLoopbackOnlyIfEveryNodeIsLocal) {
  const auto uses_loopback = [this] {
    Run();
    return nodes_[0]
        ->CommandsOf(NodeCommand::kPrepare)
        .back()
        .prepare()
        .use_loopback();
  };
  EXPECT_TRUE(uses_loopback());
  AddNode(/*is_local=*/false);
  EXPECT_FALSE(uses_loopback());
}

TEST_F(TestRunTest, ReportsProgressOnceASecond) {
  NeverFinishes(1);
  spec_.timeout = absl::Seconds(5);
  Run();
  // Five reports during the traffic and one at its end.
  EXPECT_THAT(observer_.progress, SizeIs(6));
}

TEST_F(TestRunTest, ManyNodesReportWithTheirPongs) {
  const auto are_to = [this] {
    return nodes_[0]
        ->CommandsOf(NodeCommand::kStart)
        .back()
        .start()
        .progress_with_pongs();
  };
  Run();
  EXPECT_FALSE(are_to());
  while (nodes_.size() <= 200) AddNode();
  Run();
  EXPECT_TRUE(are_to());
}

// On a busy host: the time for a report comes while progress waits.
class LateInbox : public RunInbox {
 public:
  explicit LateInbox(base::FakeClock& clock) : RunInbox(clock), clock_(clock) {}

  std::optional<RunEvent> Next(int64_t deadline_ns) override {
    std::optional<RunEvent> event = TakeFirst();
    if (!event.has_value()) {
      clock_.SetMonotonicNs(std::max(clock_.MonotonicNs(), deadline_ns));
    } else if (const auto* said = std::get_if<NodeSaid>(&*event)) {
      const bool is_first =
          said->message.has_progress() && !std::exchange(was_late_, true);
      if (is_first) clock_.Advance(1'100'000'000);
    }
    return event;
  }

 private:
  base::FakeClock& clock_;
  bool was_late_ = false;
};

TEST_F(TestRunTest, ReportsWhatNodesHaveSaidByThen) {
  for (int i = 0; i < 3; ++i) NeverFinishes(i);
  nodes_[2]->SetAnswer(NodeCommand::kStart, [this](const auto&) {
    NodeMessage reply;
    reply.mutable_start_reply();
    nodes_[2]->Say(std::move(reply));
    NodeMessage progress;
    progress.mutable_progress()->set_succeeded_count(10);
    for (const auto& node : nodes_) node->Say(progress);
  });
  spec_.timeout = absl::Seconds(2);
  TestExecution run(spec_, StepTimeouts(), clock_,
                    std::make_shared<LateInbox>(clock_), observer_);
  run.Run();
  ASSERT_FALSE(observer_.progress.empty());
  EXPECT_EQ(observer_.progress.front(), 30);
}

TEST_F(TestRunTest, AcknowledgesResultsSoThatMoreCanCome) {
  const auto say_quarter = [this] {
    NodeMessage message;
    ResultChunk& chunk = *message.mutable_result_chunk();
    chunk.set_instance("s/0");
    chunk.mutable_instance_log()->set_engine_error_message(
        std::string(kResultWindowBytes / 4, 'x'));
    nodes_[0]->Say(std::move(message));
  };
  NodeCommand collect;
  nodes_[0]->SetAnswer(NodeCommand::kCollect, [&](const NodeCommand& command) {
    collect = command;
    for (int i = 0; i < 4; ++i) say_quarter();
  });
  int64_t acknowledged = 0;
  nodes_[0]->SetAnswer(
      NodeCommand::kResultsTaken, [&](const NodeCommand& command) {
        const bool has_sent_all = acknowledged > kResultWindowBytes;
        acknowledged += command.results_taken().bytes();
        if (has_sent_all) return;
        if (acknowledged <= kResultWindowBytes) return say_quarter();
        nodes_[0]->Obey(collect);
      });
  Run();
  EXPECT_EQ(collect.collect().window_bytes(), kResultWindowBytes);
  EXPECT_GT(acknowledged, kResultWindowBytes);
  ExpectReleased(0);
}

TEST_F(TestRunTest, IgnoresMessagesOfAnotherTest) {
  nodes_[1]->SetAnswer(NodeCommand::kConnect, [this](const NodeCommand& c) {
    NodeMessage stale;
    stale.set_test_id(6);
    CommandStatus& status = *stale.mutable_connect_reply();
    status.set_code(1);
    EXPECT_TRUE(inbox_->OnNodeMessage(*nodes_[1], std::move(stale)).ok());
    nodes_[1]->Obey(c);
  });
  Run();
  EXPECT_TRUE(failure_.ok()) << failure_;
}

TEST_F(TestRunTest, SaysThatANodeStartedLate) {
  nodes_[0]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand&) {
    NodeMessage reply;
    reply.mutable_start_reply()->set_lateness_ns(13'000'000);
    nodes_[0]->Say(std::move(reply));
    NodeMessage finished;
    finished.mutable_traffic_finished();
    nodes_[0]->Say(std::move(finished));
  });
  const TestResult result = Run();
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "late_start");
  EXPECT_THAT(result.run_info().findings(0).message(),
              AllOf(HasSubstr("node0"), HasSubstr("13.0 ms")));
}

TEST_F(TestRunTest, PassesOnWhatNodesFound) {
  nodes_[0]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand&) {
    NodeMessage reply;
    reply.mutable_collect_reply()->add_findings()->set_code("something");
    nodes_[0]->Say(std::move(reply));
  });
  const TestResult result = Run();
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "something");
}

}  // namespace

// Tests test runs that end early.

namespace {

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
  EXPECT_EQ(result.run_info().failure_code(),
            static_cast<int>(absl::StatusCode::kUnavailable));
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

// Of the only client of a test, nothing else says that there was traffic.
TEST_F(TestRunTest, SaysWhatALostNodeHadCounted) {
  nodes_[1]->SetAnswer(NodeCommand::kStart, [this](const auto&) {
    NodeMessage reply;
    reply.mutable_start_reply();
    nodes_[1]->Say(std::move(reply));
    NodeMessage message;
    message.mutable_progress()->set_succeeded_count(70'000);
    message.mutable_progress()->set_failed_count(931);
    nodes_[1]->Say(std::move(message));
    nodes_[1]->Die("killed");
  });
  const RunInfo info = Run().run_info();
  ASSERT_THAT(info.findings(), SizeIs(1));
  EXPECT_THAT(
      info.findings(0).message(),
      HasSubstr("killed; until then 70931 RPCs had been counted there"));
}

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
  while (nodes_.size() < 40) AddNode();
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
  EXPECT_EQ(cancellation_.message(), "the client has gone");
  EXPECT_EQ(failure(), "the client has gone");
  EXPECT_EQ(result.run_info().failure(), "the client has gone");
  EXPECT_THAT(nodes_[0]->CommandsOf(NodeCommand::kStop), SizeIs(1));
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/1", "s/2"));
  for (int node : {0, 1, 2}) ExpectReleased(node);
}

TEST_F(TestRunTest, CancellationAfterAFailureIsKeptBesideIt) {
  DiesOn(1, NodeCommand::kStart);
  nodes_[2]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand& c) {
    inbox_->Cancel(absl::CancelledError("the client has gone"));
    nodes_[2]->Obey(c);
  });
  const TestResult result = Run();
  EXPECT_TRUE(absl::IsCancelled(cancellation_));
  EXPECT_EQ(cancellation_.message(), "the client has gone");
  EXPECT_THAT(failure(), HasSubstr("was lost"));
  EXPECT_EQ(result.run_info().failure(), failure());
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));
}

TEST_F(TestRunTest, CancellationAfterTheTrafficLeavesTheTestComplete) {
  nodes_[2]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand& c) {
    inbox_->Cancel(absl::CancelledError("the client has gone"));
    nodes_[2]->Obey(c);
  });
  const TestResult result = Run();
  EXPECT_EQ(cancellation_.message(), "the client has gone");
  EXPECT_FALSE(result.run_info().has_failure()) << result.run_info().failure();
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

TEST_F(TestRunTest, AWrongPieceCostsOnlyTheMeasurementsOfItsNode) {
  observer_.wrong_instance = "s/1";
  const TestResult result = Run();
  EXPECT_TRUE(cancellation_.ok());
  EXPECT_THAT(failure(), AllOf(HasSubstr("node1 (host "), HasSubstr("was lost"),
                               HasSubstr("it sent a wrong result: damaged")));
  EXPECT_THAT(result.run_info().findings(),
              ElementsAre(Property(&Finding::code, "node_lost")));
  EXPECT_TRUE(nodes_[1]->disconnect_reason().has_value());
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/1", "s/2"));
  for (int node : {0, 2}) ExpectReleased(node);
}

TEST_F(TestRunTest, ANodeSpeaksOnlyForItsOwnInstances) {
  nodes_[1]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand&) {
    NodeMessage piece;
    piece.mutable_result_chunk()->set_instance("s/0");
    nodes_[1]->Say(std::move(piece));
  });
  Run();
  EXPECT_THAT(failure(), HasSubstr("a result of s/0, which it does not host"));
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/2"));

  nodes_[2]->SetAnswer(NodeCommand::kPrepare, [this](const NodeCommand&) {
    NodeMessage reply;
    (*reply.mutable_prepare_reply()
          ->mutable_endpoints()
          ->mutable_service_endpoints())["s/0"];
    nodes_[2]->Say(std::move(reply));
  });
  spec_.shares.erase(spec_.shares.begin() + 1);
  const TestResult result = Run();
  EXPECT_THAT(failure(),
              HasSubstr("an endpoint for s/0, which it does not host"));
  EXPECT_EQ(result.placement().service_endpoints().at("s/0").node_alias(),
            "node0");
}

TEST_F(TestRunTest, ANodeThatIgnoresItsWindowCostsOnlyItsOwnMeasurements) {
  nodes_[1]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand&) {
    NodeMessage piece;
    ResultChunk& chunk = *piece.mutable_result_chunk();
    chunk.set_instance("s/1");
    chunk.set_peer(std::string(kResultWindowBytes, 'x'));
    for (int i = 0; i < 4; ++i) nodes_[1]->Say(piece);
  });
  Run();
  EXPECT_TRUE(cancellation_.ok());
  EXPECT_THAT(failure(), AllOf(HasSubstr("node1 (host "),
                               HasSubstr("did not wait until what it had sent "
                                         "was read")));
  EXPECT_TRUE(nodes_[1]->disconnect_reason().has_value());
  EXPECT_THAT(observer_.chunks, ElementsAre("s/0", "s/1", "s/1", "s/2"));
  for (int node : {0, 2}) ExpectReleased(node);
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
