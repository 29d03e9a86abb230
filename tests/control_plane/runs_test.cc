// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests test sequences from their submission to their results.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/client/test_client.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Property;
using ::testing::SizeIs;

TEST(RunsTest, BringsBackWhatTheNodesMeasured) {
  Cluster cluster;
  cluster.StartNodes(3);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 2)}));
  ASSERT_TRUE(run.Finish().ok()) << run.Finish();

  ASSERT_THAT(run.results().test_results(), SizeIs(1));
  const TestResult& result = run.result(0);
  EXPECT_FALSE(result.run_info().has_failure());
  EXPECT_EQ(result.traffic_config().name(), "t");
  EXPECT_GT(result.run_info().start_timestamp_ns(), 0);
  EXPECT_GE(result.run_info().end_timestamp_ns(),
            result.run_info().start_timestamp_ns());
  EXPECT_FALSE(result.run_info().version().empty());
  EXPECT_EQ(result.run_info().random_seed(),
            result.traffic_config().random_seed());
  EXPECT_THAT(result.log_summary(), Not(IsEmpty()));
  EXPECT_THAT(result.resource_usage_logs().node_usages(), SizeIs(3));

  const auto& logs = result.service_logs().instance_logs();
  ASSERT_THAT(logs, SizeIs(3));
  EXPECT_GT(logs.at("client/1")
                .peer_logs()
                .at("server/0")
                .rpc_logs()
                .at(0)
                .statistics()
                .succeeded_count(),
            0);
  const auto& placement = result.placement().service_endpoints();
  ASSERT_THAT(placement, SizeIs(3));
  EXPECT_EQ(placement.at("client/0").node_alias(), "node0");
  EXPECT_EQ(placement.at("server/0").node_alias(), "node2");
  EXPECT_EQ(placement.at("server/0").endpoint_address(), "fake:server/0");

  std::vector<RunTestsEvent::EventCase> kinds;
  for (const RunTestsEvent& event : run.events()) {
    kinds.push_back(event.event_case());
  }
  EXPECT_THAT(kinds,
              ElementsAre(RunTestsEvent::kRunId, RunTestsEvent::kStarted,
                          RunTestsEvent::kProgress, RunTestsEvent::kFinished));
  EXPECT_EQ(run.events()[1].started().expected_duration_us(), 5'000'000);
  EXPECT_EQ(run.events()[2].progress().succeeded_count(), 21);
}

TEST(RunsTest, BringsBackResultsLargerThanAnyWindow) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetChunkCount(20);
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
  const RpcPerformanceLog& log = results.test_results(0)
                                     .service_logs()
                                     .instance_logs()
                                     .at("client/0")
                                     .peer_logs()
                                     .at("server/0")
                                     .rpc_logs()
                                     .at(0);
  EXPECT_EQ(log.successful_rpc_samples_size(),
            log.statistics().succeeded_count());
  EXPECT_GT(results.ByteSizeLong(), 10 << 20);
}

TEST(RunsTest, DropsInstanceLogsThatNobodyWants) {
  Cluster cluster;
  cluster.StartNodes(2);
  TestSequence sequence = SequenceOf({ClientServerTest("t", 1)});
  sequence.mutable_tests_setting()->set_keep_instance_log(false);
  TestSequenceResults results;
  ASSERT_TRUE(cluster.Run(sequence, results).ok());
  EXPECT_FALSE(results.test_results(0).has_service_logs());
  EXPECT_THAT(results.test_results(0).log_summary(), Not(IsEmpty()));
}

TEST(RunsTest, KeepsTheSeedThatTheTestHas) {
  Cluster cluster;
  cluster.StartNodes(2);
  DistributedSystemDescription test = ClientServerTest("t", 1);
  test.set_random_seed(42);
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({test, ClientServerTest("u", 1)}), results).ok());
  EXPECT_EQ(results.test_results(0).run_info().random_seed(), 42);
  EXPECT_NE(results.test_results(1).run_info().random_seed(), 42);
}

TEST(RunsTest, UsesOnlyTheNodesThatItNeeds) {
  Cluster cluster;
  cluster.StartNodes(4);
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
  EXPECT_THAT(results.test_results(0).resource_usage_logs().node_usages(),
              SizeIs(2));
}

TEST(RunsTest, RefusesATestThatIsWrong) {
  Cluster cluster;
  cluster.StartNodes(2);
  DistributedSystemDescription test = ClientServerTest("t", 1);
  test.mutable_rpc_descriptions(0)->set_server("nobody");
  TestSequenceResults results;
  const absl::Status status = cluster.Run(SequenceOf({test}), results);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(base::Message(status), HasSubstr("nobody"));
  EXPECT_THAT(results.test_results(), IsEmpty());
}

TEST(RunsTest, RefusesATestForWhichThereAreTooFewNodes) {
  Cluster cluster;
  cluster.StartNodes(2);
  TestSequenceResults results;
  const absl::Status status = cluster.Run(
      SequenceOf({ClientServerTest("small", 1), ClientServerTest("big", 2)}),
      results);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr("big"), HasSubstr("needs 3 nodes but 2"),
                    HasSubstr("node0, node1")));
  // Nothing ran, not even the small test.
  EXPECT_THAT(results.test_results(), IsEmpty());
  EXPECT_EQ(cluster.engines().Count("client/0", hosting::EngineStep::kMake), 0);
}

TEST(RunsTest, SequencesTakeTurns) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun first(cluster.address(),
                      SequenceOf({ClientServerTest("first", 1)}));
  ASSERT_TRUE(first.WaitFor(RunTestsEvent::kStarted));
  cluster.engines().SetEndless(false);
  BackgroundRun second(cluster.address(),
                       SequenceOf({ClientServerTest("second", 1)}));
  ASSERT_TRUE(second.WaitFor(RunTestsEvent::kQueuePosition));
  EXPECT_EQ(second.events()[1].queue_position(), 1);

  const absl::StatusOr<GetStatusResponse> status =
      cluster.Connect()->GetStatus();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->running_test(), "first");
  EXPECT_EQ(status->queued_sequence_count(), 1);
  ASSERT_THAT(status->nodes(), SizeIs(2));
  EXPECT_EQ(status->nodes(1).config().node_alias(), "node1");
  EXPECT_TRUE(status->nodes(1).busy());

  first.Cancel();
  EXPECT_TRUE(second.Finish().ok()) << second.Finish();
  EXPECT_EQ(second.result(0).traffic_config().name(), "second");
}

// The total duration of a chain of actions with the maximum duration, in
// nanoseconds, would overflow an int64.
TEST(RunsTest, SaysHowLongATestTakesHoweverLongThatIs) {
  constexpr int64_t kLongestUs = 1'000'000'000'000'000;
  constexpr int kActions = 20;
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  DistributedSystemDescription test = ClientServerTest("long", 1);
  Action action = test.actions(0);
  action.mutable_iterations()->set_max_duration_us(kLongestUs);
  ActionList& list = *test.mutable_action_lists(0);
  test.clear_actions();
  list.clear_action_names();
  for (int i = 0; i < kActions; ++i) {
    Action& next = *test.add_actions();
    next = action;
    next.set_name(absl::StrCat("a", i));
    if (i > 0) next.add_dependencies(absl::StrCat("a", i - 1));
    list.add_action_names(next.name());
  }
  BackgroundRun run(cluster.address(), SequenceOf({test}));
  EXPECT_TRUE(cluster.WaitForStatus([&](const GetStatusResponse& status) {
    return status.expected_duration_us() == kActions * kLongestUs;
  }));
  run.Cancel();
  (void)run.Finish();
}

TEST(RunsTest, ACancelledRunStopsItsTraffic) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  run.Cancel();
  EXPECT_EQ(run.Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(
      cluster.engines().WaitFor("client/0", hosting::EngineStep::kStop));
  // The measurements are not lost.
  ASSERT_THAT(run.results().test_results(), SizeIs(1));
  EXPECT_THAT(run.result(0).run_info().failure(), HasSubstr("cancelled by"));
  EXPECT_THAT(run.result(0).service_logs().instance_logs(), SizeIs(2));
  // The nodes are ready for the next test.
  cluster.engines().SetEndless(false);
  TestSequenceResults results;
  EXPECT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("u", 1)}), results).ok());
  EXPECT_FALSE(results.test_results(0).run_info().has_failure());
}

TEST(RunsTest, ACancelledRunThatWaitsNeverRuns) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun first(cluster.address(),
                      SequenceOf({ClientServerTest("first", 1)}));
  ASSERT_TRUE(first.WaitFor(RunTestsEvent::kStarted));
  BackgroundRun second(cluster.address(),
                       SequenceOf({ClientServerTest("second", 1)}));
  ASSERT_TRUE(second.WaitFor(RunTestsEvent::kQueuePosition));
  second.Cancel();
  EXPECT_EQ(second.Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(cluster.WaitForStatus([](const GetStatusResponse& status) {
    return status.queued_sequence_count() == 0;
  }));
  first.Cancel();
  (void)first.Finish();
  EXPECT_EQ(cluster.engines().Count("client/0", hosting::EngineStep::kStart),
            1);
}

TEST(RunsTest, TestTimeoutEndsATestAndKeepsItsResults) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  DistributedSystemDescription test = ClientServerTest("t", 1);
  (*test.mutable_attributes())["test_timeout"] = "1";
  TestSequenceResults results;
  ASSERT_TRUE(cluster.Run(SequenceOf({test}), results).ok());
  const TestResult& result = results.test_results(0);
  EXPECT_THAT(result.run_info().failure(), HasSubstr("test_timeout of 1s"));
  EXPECT_THAT(result.log_summary(), Contains(HasSubstr("test_timeout of 1s")));
  EXPECT_THAT(result.service_logs().instance_logs().at("client/0").peer_logs(),
              SizeIs(1));
}

TEST(RunsTest, AFailedTestDoesNotKeepTheNextOneFromRunning) {
  Cluster cluster;
  cluster.StartNodes(3);
  cluster.engines().FailAt("client/1", hosting::EngineStep::kConnect,
                           absl::UnavailableError("unreachable"));
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster
          .Run(SequenceOf({ClientServerTest("t", 2), ClientServerTest("u", 1)}),
               results)
          .ok());
  ASSERT_THAT(results.test_results(), SizeIs(2));
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("node1"), HasSubstr("client/1: unreachable")));
  EXPECT_FALSE(results.test_results(1).run_info().has_failure());
}

TEST(RunsTest, APrepareThatFailsNamesNodeAndInstance) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().FailAt("server/0", hosting::EngineStep::kMake,
                           absl::UnavailableError("no ports left"));
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 1)}), results).ok());
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("node1"), HasSubstr("server/0: no ports left")));
}

TEST(RunsTest, OverloadEndsTheTestOnAllNodes) {
  Cluster cluster;
  cluster.StartNodes(3);
  cluster.engines().SetEndless(true);
  cluster.engines().OverloadAt("client/1");
  TestSequenceResults results;
  ASSERT_TRUE(
      cluster.Run(SequenceOf({ClientServerTest("t", 2)}), results).ok());
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              AllOf(HasSubstr("node1"), HasSubstr("client/1: too much")));
  // Twice, if it arrived in the middle of the start.
  EXPECT_GE(cluster.engines().Count("client/0", hosting::EngineStep::kStop), 1);
}

TEST(RunsTest, ShutsDownNodesAndSequencerAfterTheTests) {
  absl::Notification sequencer_ends;
  sequencer::SequencerOptions options;
  options.on_shutdown_request = [&] { sequencer_ends.Notify(); };
  Cluster cluster(options);
  absl::Notification node_ends;
  absl::Status end = absl::UnknownError("not called");
  node::NodeManagerOptions node;
  node.on_ended = [&](absl::Status status) {
    end = std::move(status);
    node_ends.Notify();
  };
  cluster.StartNode(node);
  cluster.StartNode();
  TestSequence sequence = SequenceOf({ClientServerTest("t", 1)});
  sequence.mutable_tests_setting()->set_shutdown_after_tests(true);
  TestSequenceResults results;
  EXPECT_TRUE(cluster.Run(sequence, results).ok());
  node_ends.WaitForNotification();
  EXPECT_TRUE(end.ok()) << end;
  sequencer_ends.WaitForNotification();
}

TEST(RunsTest, WorksWithinOneProcess) {
  Cluster cluster;
  node::NodeManagerOptions options;
  options.channel = cluster.sequencer().InProcessChannel();
  cluster.StartNode(options);
  cluster.StartNode(options);
  client::TestClient client(cluster.sequencer().InProcessChannel());
  TestSequenceResults results;
  const absl::Status status = client.RunTests(
      SequenceOf({ClientServerTest("t", 1)}), [](const RunTestsEvent&) {},
      results);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(cluster.engines().environment("client/0").service_address,
            "127.0.0.1");
}

TEST(RunsTest, ManyProblemsFitIntoAnAnswer) {
  Cluster cluster;
  DistributedSystemDescription test = ClientServerTest("t", 1);
  for (int i = 0; i < 300; ++i) {
    test.add_action_lists()->set_name(
        absl::StrCat("a list without a place in the test ", i));
    test.mutable_action_lists()->rbegin()->add_action_names("missing");
  }
  TestSequenceResults results;
  const absl::Status status = cluster.Run(SequenceOf({test}), results);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(base::Message(status),
              AllOf(HasSubstr("missing"), HasSubstr("more lines")));
}

// ---- The call of existing clients -------------------------------------------

class UnaryRunTest : public testing::Test {
 protected:
  UnaryRunTest()
      : stub_(DistBenchTestSequencer::NewStub(grpc::CreateChannel(
            cluster_.address(), grpc::InsecureChannelCredentials()))) {
    cluster_.StartNodes(2);
  }

  grpc::Status Run(const TestSequence& sequence) {
    grpc::ClientContext context;
    return stub_->RunTestSequence(&context, sequence, &results_);
  }

  Cluster cluster_;
  std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  TestSequenceResults results_;
};

TEST_F(UnaryRunTest, ReturnsAllResultsAtOnce) {
  const grpc::Status status =
      Run(SequenceOf({ClientServerTest("t", 1), ClientServerTest("u", 1)}));
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_THAT(results_.test_results(), SizeIs(2));
  const TestResult& result = results_.test_results(1);
  EXPECT_EQ(result.traffic_config().name(), "u");
  // Only the client's: the server sent nothing.
  EXPECT_THAT(result.service_logs().instance_logs(), SizeIs(1));
  EXPECT_THAT(result.log_summary(), Not(IsEmpty()));
}

TEST_F(UnaryRunTest, RefusesATestThatIsWrong) {
  TestSequence wrong;
  wrong.add_tests();
  const grpc::Status status = Run(wrong);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
}

// Whoever reads the result learns that it is not what was submitted.
TEST_F(UnaryRunTest, ChangedTestsSayItInTheirResults) {
  DistributedSystemDescription test = ClientServerTest("t", 1);
  test.mutable_rpc_descriptions(0)->set_request_payload_name("lost");
  ASSERT_TRUE(Run(SequenceOf({test})).ok());
  const auto client = cluster_.Connect();
  const auto runs = client->ListRuns();
  ASSERT_TRUE(runs.ok()) << runs.status();
  TestSequenceResults kept;
  const absl::Status status = client->GetRun(
      runs->front(), /*wait=*/true, [](const RunTestsEvent&) {}, kept);
  ASSERT_TRUE(status.ok()) << status;
  for (const TestSequenceResults* results : {&results_, &kept}) {
    ASSERT_THAT(results->test_results(), SizeIs(1));
    const TestResult& result = results->test_results(0);
    EXPECT_THAT(result.run_info().findings(),
                Contains(Property(&Finding::message, HasSubstr("\"lost\""))));
    EXPECT_THAT(result.log_summary(), Contains(HasSubstr("adapted_test")));
  }
}

TEST_F(UnaryRunTest, IsAbortedByTheFirstTestThatFails) {
  cluster_.engines().FailAt("server/0", hosting::EngineStep::kMake,
                            absl::UnavailableError("no ports left"));
  const grpc::Status status =
      Run(SequenceOf({ClientServerTest("t", 1), ClientServerTest("u", 1)}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_message(),
              AllOf(HasSubstr("tests[0]"), HasSubstr("no ports left")));
  EXPECT_EQ(cluster_.engines().Count("server/0", hosting::EngineStep::kMake),
            1);
}

}  // namespace
}  // namespace distbench
