// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests runs that outlive their clients or sequencers.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/client/test_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

RunTestsRequest RequestOf(TestSequence sequence) {
  RunTestsRequest request;
  *request.mutable_test_sequence() = std::move(sequence);
  return request;
}

// Returns the results that the sequencer has of the run.
TestSequenceResults Get(const Cluster& cluster, const RunDescription& run,
                        absl::Status& status) {
  TestSequenceResults results;
  status = cluster.Connect()->GetRun(
      run, /*wait=*/false, [](const RunTestsEvent&) {}, results);
  return results;
}

TEST(OutlivingRunsTest, ARunOutlivesItsClient) {
  Cluster cluster;
  cluster.StartNodes(2);
  RunTestsRequest request = RequestOf(SequenceOf({ClientServerTest("t", 1)}));
  request.set_label("nightly");
  request.set_is_step(true);
  const absl::StatusOr<std::string> id = cluster.Connect()->Submit(request);
  ASSERT_TRUE(id.ok()) << id.status();
  const RunDescription run = cluster.WaitForRun(*id, RunDescription::DONE);
  EXPECT_EQ(run.label(), "nightly");
  EXPECT_TRUE(run.is_step());
  EXPECT_THAT(run.client(), AnyOf("127.0.0.1", "::1"));
  EXPECT_THAT(run.test_names(), ElementsAre("t"));
  EXPECT_GE(run.end_timestamp_ns(), run.start_timestamp_ns());
  absl::Status status;
  const TestSequenceResults results = Get(cluster, run, status);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(results.test_results(0).log_summary(), Not(IsEmpty()));
  EXPECT_THAT(results.test_results(0).service_logs().instance_logs(),
              SizeIs(2));
}

TEST(OutlivingRunsTest, OthersMayFollowARun) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  const RunDescription description =
      cluster.WaitForRun(run.run_id(), RunDescription::RUNNING);
  // Without waiting, there are no results yet.
  absl::Status status;
  Get(cluster, description, status);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);

  std::vector<RunTestsEvent::EventCase> kinds;
  TestSequenceResults results;
  status = cluster.Connect()->GetRun(
      description, /*wait=*/true,
      [&](const RunTestsEvent& event) {
        kinds.push_back(event.event_case());
        if (event.has_started()) run.Cancel();
      },
      results);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(kinds, AllOf(Contains(RunTestsEvent::kStarted),
                           Contains(RunTestsEvent::kFinished)));
  EXPECT_THAT(results.test_results(0).service_logs().instance_logs(),
              SizeIs(2));
}

TEST(OutlivingRunsTest, RunsAreCancelledById) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  const auto client = cluster.Connect();
  const RunTestsRequest request =
      RequestOf(SequenceOf({ClientServerTest("t", 1)}));
  const std::string running = *client->Submit(request);
  const std::string waiting = *client->Submit(request);
  cluster.WaitForRun(running, RunDescription::RUNNING);
  EXPECT_EQ(
      cluster.WaitForRun(waiting, RunDescription::WAITING).queue_position(), 1);
  EXPECT_TRUE(client->CancelRun(waiting).ok());
  EXPECT_THAT(cluster.WaitForRun(waiting, RunDescription::CANCELLED).message(),
              AnyOf(HasSubstr("cancelled by 127.0.0.1"),
                    HasSubstr("cancelled by ::1")));
  EXPECT_TRUE(client->CancelRun(running).ok());
  cluster.WaitForRun(running, RunDescription::CANCELLED);
  EXPECT_EQ(client->CancelRun(running).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(client->CancelRun("20200101-000000-000").code(),
            absl::StatusCode::kNotFound);
}

TEST(OutlivingRunsTest, SomeRunsGoFirst) {
  Cluster cluster;
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun running(cluster.address(),
                        SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(running.WaitFor(RunTestsEvent::kStarted));
  cluster.engines().SetEndless(false);
  RunTestsRequest request = RequestOf(SequenceOf({ClientServerTest("u", 1)}));
  BackgroundRun patient(cluster.address(), request);
  ASSERT_TRUE(patient.WaitFor(RunTestsEvent::kQueuePosition));
  request.set_preempt(true);
  BackgroundRun urgent(cluster.address(), request);
  ASSERT_TRUE(urgent.WaitFor(RunTestsEvent::kQueuePosition));
  EXPECT_EQ(urgent.events()[1].queue_position(), 1);
  EXPECT_EQ(cluster.WaitForRun(patient.run_id(), RunDescription::WAITING)
                .queue_position(),
            2);
  running.Cancel();
  EXPECT_TRUE(patient.Finish().ok());
  EXPECT_TRUE(urgent.Finish().ok());
  EXPECT_LT(urgent.result(0).run_info().start_timestamp_ns(),
            patient.result(0).run_info().start_timestamp_ns());
}

class StoredRunsTest : public testing::Test {
 protected:
  StoredRunsTest() {
    std::filesystem::remove_all(path_);
    options_.results_dir = path_;
  }

  const std::string path_ =
      testing::TempDir() + "/" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
  sequencer::SequencerOptions options_;
};

TEST_F(StoredRunsTest, ResultsOutliveTheSequencer) {
  Cluster cluster(options_);
  cluster.StartNodes(2);
  cluster.engines().SetChunkCount(20);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  ASSERT_TRUE(run.Finish().ok()) << run.Finish();
  const std::string id = run.run_id();
  cluster.StopSequencer();
  cluster.RestartSequencer();
  EXPECT_THAT(cluster.sequencer().interrupted_runs(), IsEmpty());
  absl::Status status;
  const TestSequenceResults results =
      Get(cluster, cluster.WaitForRun(id, RunDescription::DONE), status);
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_EQ(results.ByteSizeLong(), run.results().ByteSizeLong());
}

TEST_F(StoredRunsTest, AShutdownKeepsWhatWasMeasured) {
  Cluster cluster(options_);
  cluster.StartNodes(2);
  cluster.engines().SetEndless(true);
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1),
                                                   ClientServerTest("u", 1)}));
  ASSERT_TRUE(run.WaitFor(RunTestsEvent::kStarted));
  BackgroundRun waiting(cluster.address(),
                        SequenceOf({ClientServerTest("v", 1)}));
  ASSERT_TRUE(waiting.WaitFor(RunTestsEvent::kQueuePosition));
  cluster.ShutDownSequencer();
  for (BackgroundRun* ended : {&run, &waiting}) {
    const absl::Status end = ended->Finish();
    EXPECT_EQ(base::Message(end), "the test sequencer is shutting down");
    // Experiments and jobs end, and can go on later.
    EXPECT_TRUE(absl::IsCancelled(end)) << end;
  }
  cluster.StopSequencer();
  cluster.RestartSequencer();
  cluster.WaitForRun(waiting.run_id(), RunDescription::CANCELLED);
  absl::Status status;
  const TestSequenceResults results = Get(
      cluster, cluster.WaitForRun(run.run_id(), RunDescription::INTERRUPTED),
      status);
  EXPECT_EQ(base::Message(status), "the test sequencer is shutting down");
  ASSERT_THAT(results.test_results(), SizeIs(1));
  EXPECT_THAT(results.test_results(0).run_info().failure(),
              HasSubstr("shutting down"));
  EXPECT_THAT(results.test_results(0).service_logs().instance_logs(),
              SizeIs(2));
}

}  // namespace
}  // namespace distbench
