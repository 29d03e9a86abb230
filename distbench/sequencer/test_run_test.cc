#include "distbench/sequencer/test_run.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/fake_clock.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/sequencer/fake_node.h"
#include "distbench/sequencer/time_travelling_inbox.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RecordingObserver : public TestRunObserver {
 public:
  void OnStarted() override { started = true; }
  void OnProgress(const TrafficProgress& total) override {
    progress.push_back(total.succeeded_count());
    all_progress.push_back(total);
  }
  absl::Status OnResultChunk(ResultChunk chunk) override {
    chunks.push_back(chunk.instance());
    return chunk_status;
  }

  bool started = false;
  std::vector<int64_t> progress;
  std::vector<TrafficProgress> all_progress;
  std::vector<std::string> chunks;
  absl::Status chunk_status;
};

// Three nodes, each with one instance of one service.
class TestRunTest : public testing::Test {
 protected:
  TestRunTest() : inbox_(std::make_shared<TimeTravellingInbox>(clock_)) {
    spec_.test_id = 7;
    spec_.timeout = absl::Seconds(30);
    spec_.test.add_services()->set_name("s");
    spec_.test.set_random_seed(99);
    for (int i = 0; i < 3; ++i) {
      nodes_.push_back(std::make_shared<FakeNode>("node" + std::to_string(i)));
      spec_.shares.push_back(
          {.node = nodes_[i], .instances = {"s/" + std::to_string(i)}});
    }
  }

  TestResult Run() {
    TestExecution run(spec_, StepTimeouts(), clock_, inbox_, observer_);
    TestResult result = run.Run();
    failure_ = run.failure();
    cancelled_ = run.cancelled();
    return result;
  }

  std::string failure() const { return std::string(failure_.message()); }

  // The node dies instead of obeying.
  void DiesOn(int node, NodeCommand::CommandCase kind) {
    nodes_[node]->SetAnswer(kind, [this, node](const NodeCommand&) {
      nodes_[node]->Die("killed");
    });
  }

  // The node starts, but its traffic does not end by itself.
  void NeverFinishes(int node) {
    nodes_[node]->SetAnswer(NodeCommand::kStart, [this, node](const auto&) {
      NodeMessage reply;
      reply.mutable_start_reply();
      nodes_[node]->Say(std::move(reply));
    });
  }

  void ExpectReleased(int node) {
    EXPECT_THAT(nodes_[node]->CommandsOf(NodeCommand::kRelease), SizeIs(1));
    EXPECT_FALSE(nodes_[node]->disconnect_reason().has_value());
  }

  FakeClock clock_;
  std::shared_ptr<TimeTravellingInbox> inbox_;
  RecordingObserver observer_;
  TestRunSpec spec_;
  std::vector<std::shared_ptr<FakeNode>> nodes_;
  absl::Status failure_;
  bool cancelled_ = false;
};

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
  for (const auto& node : nodes_) node->set_is_local(false);
  nodes_[1]->set_clock_offset({.offset_ns = 100, .error_ns = 200});
  nodes_[2]->set_clock_offset({.offset_ns = -5'000'000, .error_ns = 200});
  const TestResult result = Run();
  const auto correction = [this](int node) {
    return nodes_[node]
        ->CommandsOf(NodeCommand::kPrepare)
        .front()
        .prepare()
        .clock_offset_ns();
  };
  EXPECT_EQ(correction(0), 0);
  EXPECT_EQ(correction(1), 0);
  EXPECT_EQ(correction(2), -5'000'000);
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "clock_offset");
  EXPECT_THAT(result.run_info().findings(0).message(), HasSubstr("node2"));
  const auto& offsets = result.run_info().clock_offsets();
  EXPECT_THAT(offsets, SizeIs(2)) << "that of node0 was never measured";
  EXPECT_EQ(offsets.at("node1").error_ns(), 200);
  EXPECT_EQ(offsets.at("node2").offset_ns(), -5'000'000);
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
        LogHistogram times;
        times.Record(100);
        EncodeHistogram(times, *progress.mutable_recent_service_time_ns());
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
  nodes_[2]->set_is_local(false);
  EXPECT_FALSE(uses_loopback());
}

TEST_F(TestRunTest, ReportsProgressOnceASecond) {
  NeverFinishes(1);
  spec_.timeout = absl::Seconds(5);
  Run();
  // Five while it runs and one at the end.
  EXPECT_THAT(observer_.progress, SizeIs(6));
}

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

// A node that dies at a step: which step, and what the failure says of it.
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
  // It did answer the release.
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

TEST_F(TestRunTest, AcknowledgesResultsSoThatMoreCanCome) {
  nodes_[0]->SetAnswer(NodeCommand::kCollect, [this](const NodeCommand& c) {
    const int64_t window = c.collect().window_bytes();
    for (int64_t sent = 0; sent < 2 * window;) {
      NodeMessage message;
      ResultChunk& chunk = *message.mutable_result_chunk();
      chunk.mutable_instance_log()->set_engine_error_message(
          std::string(1 << 20, 'x'));
      sent += chunk.ByteSizeLong();
      nodes_[0]->Say(std::move(message));
    }
    nodes_[0]->Obey(c);
  });
  Run();
  int64_t acknowledged = 0;
  for (const auto& command :
       nodes_[0]->CommandsOf(NodeCommand::kResultsTaken)) {
    acknowledged += command.results_taken().bytes();
  }
  const int64_t window = nodes_[0]
                             ->CommandsOf(NodeCommand::kCollect)
                             .front()
                             .collect()
                             .window_bytes();
  EXPECT_GT(acknowledged, window);
}

TEST_F(TestRunTest, IgnoresMessagesOfAnotherTest) {
  nodes_[1]->SetAnswer(NodeCommand::kConnect, [this](const NodeCommand& c) {
    NodeMessage stale;
    stale.set_test_id(6);
    CommandStatus& status = *stale.mutable_connect_reply();
    status.set_code(1);
    inbox_->OnNodeMessage(*nodes_[1], std::move(stale));
    nodes_[1]->Obey(c);
  });
  Run();
  EXPECT_TRUE(failure_.ok()) << failure_;
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
  Run();
  EXPECT_THAT(std::string(failure_.message()),
              AllOf(HasSubstr("node1"),
                    HasSubstr("ended the traffic: told to end")));
  EXPECT_THAT(nodes_[0]->CommandsOf(NodeCommand::kStop), SizeIs(1));
  EXPECT_THAT(nodes_[1]->CommandsOf(NodeCommand::kCollect), SizeIs(1));
}

TEST_F(TestRunTest, SaysThatANodeStartedLate) {
  nodes_[0]->SetAnswer(NodeCommand::kStart, [this](const NodeCommand&) {
    NodeMessage reply;
    reply.mutable_start_reply()->set_lateness_ns(3'000'000);
    nodes_[0]->Say(std::move(reply));
    NodeMessage finished;
    finished.mutable_traffic_finished();
    nodes_[0]->Say(std::move(finished));
  });
  const TestResult result = Run();
  ASSERT_THAT(result.run_info().findings(), SizeIs(1));
  EXPECT_EQ(result.run_info().findings(0).code(), "late_start");
  EXPECT_THAT(result.run_info().findings(0).message(),
              AllOf(HasSubstr("node0"), HasSubstr("3.000 ms")));
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
}  // namespace distbench
