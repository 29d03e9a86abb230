// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/test_part.h"

#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "distbench/node/testing/test_part_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using TestPartTest = TestPartFixture;

TEST_F(TestPartTest, PreparesInstancesAndSaysWhatTheyNeed) {
  Attribute attribute;
  attribute.set_name("rack");
  environment_.attributes.push_back(attribute);
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(), 0) << reply.status().message();
  const auto& endpoints = reply.endpoints().service_endpoints();
  ASSERT_THAT(endpoints, SizeIs(2));
  EXPECT_EQ(endpoints.at("client/1").endpoint_address(), "fake:client/1");
  EXPECT_EQ(endpoints.at("client/1").hostname(), "alpha");
  EXPECT_EQ(endpoints.at("client/1").attributes(0).name(), "rack");
  EXPECT_THAT(reply.peers(), ElementsAre("server/0"));
}

TEST_F(TestPartTest, WhoeverInterruptsTheTrafficSaysWhy) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  test_->Interrupt(absl::AbortedError("enough"));
  test_->Interrupt(absl::AbortedError("too late"));
  finished_.WaitForNotification();
  EXPECT_EQ(finish_status_, absl::AbortedError("enough"));
}

TEST_F(TestPartTest, WhatServesOthersCanBeInterruptedToo) {
  PrepareAndConnect();
  EXPECT_FALSE(test_->is_active());
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  finished_.WaitForNotification();
  EXPECT_TRUE(finish_status_.ok()) << finish_status_;
  EXPECT_TRUE(test_->is_active());
  test_->Interrupt(absl::AbortedError("enough"));
  EXPECT_EQ(finish_status_, absl::AbortedError("enough"));
}

TEST_F(TestPartTest, NobodyIsToldOfAnInterruptionOfWhatIsOver) {
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  finished_.WaitForNotification();
  test_->Collect([](ResultChunk) {});
  EXPECT_FALSE(test_->is_active());
  test_->Interrupt(absl::AbortedError("enough"));
  EXPECT_TRUE(finish_status_.ok()) << finish_status_;
}

TEST_F(TestPartTest, ChoosesTheServiceAddress) {
  const auto address = [this] {
    Make().Prepare();
    return engines_.environment("client/0").service_address;
  };
  EXPECT_EQ(address(), "");
  request_.set_use_loopback(true);
  EXPECT_EQ(address(), "127.0.0.1");
  auto& options = *request_.mutable_config()
                       ->mutable_traffic_config()
                       ->add_protocol_driver_options();
  options.set_name("default_protocol_driver_options");
  options.set_ip_version(6);
  EXPECT_EQ(address(), "::1");
  environment_.service_address = "10.1.2.3";
  EXPECT_EQ(address(), "10.1.2.3");
  options.set_netdev_name("eth0");
  EXPECT_EQ(address(), "") << "the driver asks the device";
}

TEST_F(TestPartTest, WorkersAreTheConfigsOrElseTheSequencers) {
  request_.set_workers_per_instance(3);
  Make().Prepare();
  EXPECT_EQ(engines_.worker_count("client/0"), 3);
  request_.mutable_config()->mutable_traffic_config()->set_workers_per_instance(
      5);
  Make().Prepare();
  EXPECT_EQ(engines_.worker_count("client/0"), 5);
}

TEST_F(TestPartTest, FewerWorkersThanItsShareLeaveCpusToSpare) {
  request_.set_workers_per_instance(3);
  Make().Prepare();
  EXPECT_FALSE(engines_.environment("client/0").has_spare_cpu);
  for (const int workers : {2, 3}) {
    request_.mutable_config()
        ->mutable_traffic_config()
        ->set_workers_per_instance(workers);
    Make().Prepare();
    EXPECT_EQ(engines_.environment("client/0").has_spare_cpu, workers < 3);
  }
}

TEST_F(TestPartTest, SaysWhichInstanceCouldNotBePrepared) {
  engines_.FailAt("client/1", hosting::EngineStep::kMake,
                  absl::UnavailableError("no ports left"));
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kUnavailable));
  EXPECT_EQ(reply.status().message(), "client/1: no ports left");
}

TEST_F(TestPartTest, SaysWhichInstanceCouldNotConnect) {
  engines_.FailAt("client/1", hosting::EngineStep::kConnect,
                  absl::UnavailableError("server/0 refuses"));
  Make().Prepare();
  EXPECT_EQ(test_->Connect(Peers()).message(), "client/1: server/0 refuses");
}

TEST_F(TestPartTest, FinishesWhenAllInstancesHave) {
  PrepareAndConnect();
  EXPECT_EQ(test_->Start(StartIn(1000)).status().code(), 0);
  finished_.WaitForNotification();
  EXPECT_TRUE(finish_status_.ok());
  EXPECT_EQ(totals_.succeeded_count(), 14);
}

TEST_F(TestPartTest, SaysHowLateItStarted) {
  PrepareAndConnect();
  EXPECT_FALSE(test_->Start(StartIn(1000)).has_lateness_ns());
  finished_.WaitForNotification();
}

// Invalid commands of a sequencer do not harm a node.
TEST_F(TestPartTest, AStartLongBeforeTheEpochIsLate) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  PrepareAndConnect();
  StartTraffic start;
  start.set_start_timestamp_ns(std::numeric_limits<int64_t>::min());
  start.set_timeout_ns(kLatest);
  EXPECT_EQ(test_->Start(start).lateness_ns(), kLatest);
  finished_.WaitForNotification();
}

TEST_F(TestPartTest, RefusesAStartThatIsCenturiesAhead) {
  PrepareAndConnect();
  StartTraffic start;
  start.set_start_timestamp_ns(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(test_->Start(start).status().message(),
              HasSubstr("which is impossible"));
}

TEST_F(TestPartTest, RefusesAClockThatIsCenturiesOff) {
  for (const int64_t offset_ns : {std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()}) {
    request_.set_clock_offset_ns(offset_ns);
    EXPECT_THAT(Make().Prepare().status().message(),
                HasSubstr("which is impossible"));
  }
}

TEST_F(TestPartTest, TimeIsTheSequencers) {
  request_.set_clock_offset_ns(5'000'000);
  PrepareAndConnect();
  // By this host's clock the start is still to come.
  EXPECT_EQ(test_->Start(StartIn(-6'000'000)).lateness_ns(), 1'000'000);
  finished_.WaitForNotification();
}

TEST_F(TestPartTest, StopEndsTheTraffic) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  EXPECT_TRUE(test_->is_running());
  test_->Stop("enough");
  finished_.WaitForNotification();
  EXPECT_FALSE(test_->is_running());
  EXPECT_TRUE(finish_status_.ok());
}

TEST_F(TestPartTest, StopKeepsLaterStepsFromHappening) {
  Make().Prepare();
  test_->Stop("enough");
  EXPECT_THAT(test_->Connect(Peers()).message(), HasSubstr("enough"));
  EXPECT_THAT(test_->Start(StartIn(0)).status().message(), HasSubstr("enough"));
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kStart), 0);
}

TEST_F(TestPartTest, AnInterruptionIsTheReasonOfLaterFailures) {
  Make().Prepare();
  engines_.BlockAt("client/0", hosting::EngineStep::kConnect);
  engines_.FailAt("client/0", hosting::EngineStep::kConnect,
                  absl::CancelledError("connecting was aborted"));
  CommandStatus status;
  std::thread connecting([&] { status = test_->Connect(Peers()); });
  ASSERT_TRUE(engines_.WaitFor("client/0", hosting::EngineStep::kConnect));
  test_->Interrupt(absl::UnavailableError("client/1: its process ended"));
  engines_.Unblock();
  connecting.join();
  EXPECT_EQ(status.message(), "client/1: its process ended");
  EXPECT_EQ(test_->Start(StartIn(0)).status().message(),
            "client/1: its process ended");
}

TEST_F(TestPartTest, StopTakesEffectInTheMiddleOfAStep) {
  Make().Prepare();
  engines_.BlockAt("client/0", hosting::EngineStep::kConnect);
  CommandStatus status;
  std::thread connecting([&] { status = test_->Connect(Peers()); });
  ASSERT_TRUE(engines_.WaitFor("client/0", hosting::EngineStep::kConnect));
  test_->Stop("enough");
  engines_.Unblock();
  connecting.join();
  EXPECT_THAT(status.message(), HasSubstr("enough"));
  EXPECT_EQ(engines_.Count("client/1", hosting::EngineStep::kConnect), 0);
}

TEST_F(TestPartTest, CollectsFromAllInstancesAfterTheyHaveShutDown) {
  PrepareAndConnect();
  test_->Start(StartIn(0));
  finished_.WaitForNotification();
  std::vector<std::string> instances;
  const CollectReply reply = test_->Collect([&](ResultChunk chunk) {
    EXPECT_EQ(engines_.Count("client/1", hosting::EngineStep::kShutdown), 1);
    instances.push_back(chunk.instance());
  });
  EXPECT_EQ(reply.status().code(), 0);
  EXPECT_TRUE(reply.node_usage().has_rusage_diff());
  EXPECT_THAT(instances, AllOf(Contains("client/0"), Contains("client/1")));
}

TEST_F(TestPartTest, ReportsProgressOfAllInstances) {
  PrepareAndConnect();
  const TrafficProgress progress = test_->TakeProgress();
  EXPECT_EQ(progress.succeeded_count(), 14);
  EXPECT_EQ(progress.offered_count(), 18);
  EXPECT_EQ(progress.open_loop_ended_count(), 10);
  EXPECT_EQ(progress.traffic_time_ns(), 11);
  EXPECT_EQ(progress.recent_service_time_ns().sum(), 2000);
  EXPECT_FALSE(progress.has_recent_response_time_ns());
  EXPECT_EQ(progress.recent_rpcs_size(), 0) << "there is one RPC only";
}

TEST_F(TestPartTest, ReportsProgressOfEachRpcIfThereAreSeveral) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  test.add_action_lists()->set_name("other");
  RpcSpec& other = *test.add_rpc_descriptions();
  other = test.rpc_descriptions(0);
  other.set_name("other");
  PrepareAndConnect();
  const TrafficProgress progress = test_->TakeProgress();
  ASSERT_EQ(progress.recent_rpcs_size(), 1) << "nothing is known of the other";
  EXPECT_EQ(progress.recent_rpcs(0).rpc_name(), "query");
  EXPECT_EQ(progress.recent_rpcs(0).service_time_ns().sum(), 2000);
}

TEST_F(TestPartTest, ReportsTheHostAndItsUseSecondBySecond) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(1'000'000'000);
    test_->SampleResources();
  }
  test_->Stop("enough");
  finished_.WaitForNotification();
  const CollectReply reply = test_->Collect([](ResultChunk) {});
  EXPECT_EQ(reply.node_resources().samples_size(), 3);
  EXPECT_FALSE(reply.node_resources().host().kernel().empty());
}

TEST_F(TestPartTest, EndShutsInstancesDown) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  test_->End();
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kShutdown), 1);
  EXPECT_EQ(engines_.Count("client/1", hosting::EngineStep::kShutdown), 1);
}

}  // namespace
}  // namespace distbench::node
