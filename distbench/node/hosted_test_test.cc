#include "distbench/node/hosted_test.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/testing/fake_engine.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kTest[] = R"(
  tests {
    services { name: "client" count: 2 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    actions {
      name: "run" rpc_name: "query" iterations { max_iteration_count: 10 }
    }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" }
  })";

// Tests a node that hosts both clients.
class HostedTestTest : public testing::Test {
 protected:
  HostedTestTest() {
    TestSequence sequence;
    EXPECT_TRUE(
        google::protobuf::TextFormat::ParseFromString(kTest, &sequence));
    auto checked = CheckTestSequence(sequence);
    EXPECT_TRUE(checked.ok()) << checked.status();
    *request_.mutable_config()->mutable_traffic_config() = checked->tests(0);
    request_.mutable_config()->add_services("client/0");
    request_.mutable_config()->add_services("client/1");
  }

  // Makes the test from request_ and environment_.
  HostedTest& Make() {
    test_ = std::make_unique<HostedTest>(
        request_, environment_,
        [this](const absl::Status& status, const TrafficProgress& totals) {
          finish_status_ = status;
          totals_ = totals;
          if (!finished_.HasBeenNotified()) finished_.Notify();
        });
    return *test_;
  }

  void PrepareAndConnect() {
    ASSERT_EQ(Make().Prepare().status().code(), 0);
    ASSERT_EQ(test_->Connect(Peers()).code(), 0);
  }

  ConnectPeers Peers() {
    ConnectPeers peers;
    (*peers.mutable_endpoints()->mutable_service_endpoints())["server/0"]
        .set_endpoint_address("fake:server/0");
    return peers;
  }

  StartTraffic StartIn(int64_t lead_ns) {
    StartTraffic start;
    start.set_start_timestamp_ns(clock_.UnixNs() + lead_ns);
    start.set_timeout_ns(1'000'000'000);
    return start;
  }

  FakeClock clock_;
  FakeEngineFactory engines_;
  NodeEnvironment environment_{
      .engines = engines_, .clock = clock_, .hostname = "alpha"};
  PrepareTest request_;
  absl::Notification finished_;
  absl::Status finish_status_;
  TrafficProgress totals_;
  std::unique_ptr<HostedTest> test_;
};

TEST_F(HostedTestTest, PreparesInstancesAndSaysWhatTheyNeed) {
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

TEST_F(HostedTestTest, RefusesATestThatAllowsFewerThreadsThanThereAre) {
  std::thread other([this] { finished_.WaitForNotification(); });
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_overload_limits()
      ->set_max_threads(1);
  const PrepareReply reply = Make().Prepare();
  finished_.Notify();
  other.join();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(), HasSubstr("Too many threads running"));
}

TEST_F(HostedTestTest, CountsThreadsBeforeAnInstanceIsMade) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  test.mutable_overload_limits()->set_max_threads(200);
  test.set_workers_per_instance(200);
  const PrepareReply reply = Make().Prepare();
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("client/0: Too many threads running"),
                    HasSubstr("before 200 more are started")));
  EXPECT_EQ(engines_.Count("client/0", EngineStep::kMake), 0);
}

TEST_F(HostedTestTest, RefusesInstancesForWhichTheHostHasNoThreads) {
  environment_.system_root = testing::TempDir() + "/hosted_test_threads";
  const auto write = [this](const std::string& path, const char* content) {
    const std::filesystem::path file(environment_.system_root + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  };
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/pids.max", "64\n");
  write("/sys/fs/cgroup/pids.current", "62\n");
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("client/0: its engine process needs up to"),
                    HasSubstr("allows 64 threads"), HasSubstr("raise")));
  EXPECT_EQ(engines_.Count("client/0", EngineStep::kMake), 0);
}

TEST_F(HostedTestTest, RefusesInstancesThatTheNodesLimitsDoNotFit) {
  engines_.SetLimits({.max_threads = 5});
  EXPECT_THAT(Make().Prepare().status().message(),
              HasSubstr("--engine_max_threads is 5"));
  engines_.SetLimits({.max_files = 10});
  EXPECT_THAT(Make().Prepare().status().message(),
              HasSubstr("this process may have 10 open"));
}

TEST_F(HostedTestTest, RefusesATestThatAllowsLessMemoryThanIsUsed) {
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_overload_limits()
      ->set_max_memory_bytes(1);
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(), HasSubstr("Too much memory used"));
}

TEST_F(HostedTestTest, MemoryBeyondTheLimitEndsTheTraffic) {
  // A host with 16 MiB, of which this process first uses 4 KiB, and then all.
  environment_.system_root = testing::TempDir() + "/hosted_test_test";
  const auto write = [this](const std::string& path,
                            const std::string& content) {
    const std::filesystem::path file(environment_.system_root + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  };
  write("/proc/meminfo", "MemTotal: 16384 kB\nMemAvailable: 12288 kB\n");
  write("/proc/self/statm", "9999 1 0 0 0 0 0\n");
  engines_.SetEndless(true);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  test_->StopIfOverloaded();
  EXPECT_FALSE(finished_.HasBeenNotified());
  write("/proc/self/statm", "9999 4096 0 0 0 0 0\n");
  test_->StopIfOverloaded();
  finished_.WaitForNotification();
  EXPECT_TRUE(absl::IsResourceExhausted(finish_status_)) << finish_status_;
}

TEST_F(HostedTestTest, RefusesATestThatNeedsMoreFilesThanThereMayBe) {
  request_.set_workers_per_instance(500'000'000);
  const CommandStatus status = Make().Prepare().status();
  EXPECT_EQ(status.code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status.message(), HasSubstr("500000000 workers open"));
}

TEST_F(HostedTestTest, RefusesATestThatNeedsMoreSocketsThanThereMayBe) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  ProtocolDriverOptions& options = *test.add_protocol_driver_options();
  options.set_name("many");
  options.set_protocol_name("tcp");
  NamedSetting& connections = *options.add_client_settings();
  connections.set_name("connections");
  connections.set_int64_value(1024);
  test.set_default_protocol("many");
  request_.set_workers_per_instance(100);
  // Limits the ports, in case the process may open many files.
  environment_.system_root = testing::TempDir() + "/hosted_test_sockets";
  const std::string folder = environment_.system_root + "/proc/sys/net/ipv4";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/ip_local_port_range") << "1000 1999\n";
  const CommandStatus prepared = Make().Prepare().status();
  ASSERT_EQ(prepared.code(), 0) << prepared.message();
  const CommandStatus status = test_->Connect(Peers());
  EXPECT_EQ(status.code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status.message(), HasSubstr("need"));
}

TEST_F(HostedTestTest, WhoeverInterruptsTheTrafficSaysWhy) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  test_->Interrupt(absl::AbortedError("enough"));
  test_->Interrupt(absl::AbortedError("too late"));
  finished_.WaitForNotification();
  EXPECT_EQ(finish_status_, absl::AbortedError("enough"));
}

TEST_F(HostedTestTest, WhatServesOthersCanBeInterruptedToo) {
  PrepareAndConnect();
  EXPECT_FALSE(test_->is_active());
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  finished_.WaitForNotification();
  EXPECT_TRUE(finish_status_.ok()) << finish_status_;
  EXPECT_TRUE(test_->is_active());
  test_->Interrupt(absl::AbortedError("enough"));
  EXPECT_EQ(finish_status_, absl::AbortedError("enough"));
}

TEST_F(HostedTestTest, NobodyIsToldOfAnInterruptionOfWhatIsOver) {
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  finished_.WaitForNotification();
  test_->Collect([](ResultChunk) {});
  EXPECT_FALSE(test_->is_active());
  test_->Interrupt(absl::AbortedError("enough"));
  EXPECT_TRUE(finish_status_.ok()) << finish_status_;
}

TEST_F(HostedTestTest, ThreadsBeyondTheLimitEndTheTraffic) {
  engines_.SetEndless(true);
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_overload_limits()
      ->set_max_threads(50);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  std::vector<std::thread> others;
  absl::Notification end;
  for (int i = 0; i < 60; ++i) {
    others.emplace_back([&end] { end.WaitForNotification(); });
  }
  test_->StopIfOverloaded();
  end.Notify();
  for (std::thread& other : others) other.join();
  finished_.WaitForNotification();
  EXPECT_TRUE(absl::IsResourceExhausted(finish_status_)) << finish_status_;
}

TEST_F(HostedTestTest, ChoosesTheServiceAddress) {
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

TEST_F(HostedTestTest, WorkersAreTheConfigsOrElseTheSequencers) {
  request_.set_workers_per_instance(3);
  Make().Prepare();
  EXPECT_EQ(engines_.worker_count("client/0"), 3);
  request_.mutable_config()->mutable_traffic_config()->set_workers_per_instance(
      5);
  Make().Prepare();
  EXPECT_EQ(engines_.worker_count("client/0"), 5);
}

TEST_F(HostedTestTest, FewerWorkersThanItsShareLeaveCpusToSpare) {
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

TEST_F(HostedTestTest, SaysWhichInstanceCouldNotBePrepared) {
  engines_.FailAt("client/1", EngineStep::kMake,
                  absl::UnavailableError("no ports left"));
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kUnavailable));
  EXPECT_EQ(reply.status().message(), "client/1: no ports left");
}

TEST_F(HostedTestTest, SaysWhichInstanceCouldNotConnect) {
  engines_.FailAt("client/1", EngineStep::kConnect,
                  absl::UnavailableError("server/0 refuses"));
  Make().Prepare();
  EXPECT_EQ(test_->Connect(Peers()).message(), "client/1: server/0 refuses");
}

TEST_F(HostedTestTest, FinishesWhenAllInstancesHave) {
  PrepareAndConnect();
  EXPECT_EQ(test_->Start(StartIn(1000)).status().code(), 0);
  finished_.WaitForNotification();
  EXPECT_TRUE(finish_status_.ok());
  EXPECT_EQ(totals_.succeeded_count(), 14);
}

TEST_F(HostedTestTest, SaysHowLateItStarted) {
  PrepareAndConnect();
  EXPECT_FALSE(test_->Start(StartIn(1000)).has_lateness_ns());
  finished_.WaitForNotification();
}

// Invalid commands of a sequencer do not harm a node.
TEST_F(HostedTestTest, AStartLongBeforeTheEpochIsLate) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  PrepareAndConnect();
  StartTraffic start;
  start.set_start_timestamp_ns(std::numeric_limits<int64_t>::min());
  start.set_timeout_ns(kLatest);
  EXPECT_EQ(test_->Start(start).lateness_ns(), kLatest);
  finished_.WaitForNotification();
}

TEST_F(HostedTestTest, RefusesAStartThatIsCenturiesAhead) {
  PrepareAndConnect();
  StartTraffic start;
  start.set_start_timestamp_ns(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(test_->Start(start).status().message(),
              HasSubstr("which is impossible"));
}

TEST_F(HostedTestTest, RefusesAClockThatIsCenturiesOff) {
  for (const int64_t offset_ns : {std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()}) {
    request_.set_clock_offset_ns(offset_ns);
    EXPECT_THAT(Make().Prepare().status().message(),
                HasSubstr("which is impossible"));
  }
}

TEST_F(HostedTestTest, TimeIsTheSequencers) {
  request_.set_clock_offset_ns(5'000'000);
  PrepareAndConnect();
  // By this host's clock the start is still to come.
  EXPECT_EQ(test_->Start(StartIn(-6'000'000)).lateness_ns(), 1'000'000);
  finished_.WaitForNotification();
}

TEST_F(HostedTestTest, StopEndsTheTraffic) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  EXPECT_TRUE(test_->is_running());
  test_->Stop("enough");
  finished_.WaitForNotification();
  EXPECT_FALSE(test_->is_running());
  EXPECT_TRUE(finish_status_.ok());
}

TEST_F(HostedTestTest, StopKeepsLaterStepsFromHappening) {
  Make().Prepare();
  test_->Stop("enough");
  EXPECT_THAT(test_->Connect(Peers()).message(), HasSubstr("enough"));
  EXPECT_THAT(test_->Start(StartIn(0)).status().message(), HasSubstr("enough"));
  EXPECT_EQ(engines_.Count("client/0", EngineStep::kStart), 0);
}

TEST_F(HostedTestTest, StopTakesEffectInTheMiddleOfAStep) {
  Make().Prepare();
  engines_.BlockAt("client/0", EngineStep::kConnect);
  CommandStatus status;
  std::thread connecting([&] { status = test_->Connect(Peers()); });
  ASSERT_TRUE(engines_.WaitFor("client/0", EngineStep::kConnect));
  test_->Stop("enough");
  engines_.Unblock();
  connecting.join();
  EXPECT_THAT(status.message(), HasSubstr("enough"));
  EXPECT_EQ(engines_.Count("client/1", EngineStep::kConnect), 0);
}

TEST_F(HostedTestTest, OverloadOfOneInstanceEndsTheTraffic) {
  engines_.SetEndless(true);
  engines_.OverloadAt("client/1");
  PrepareAndConnect();
  test_->Start(StartIn(0));
  finished_.WaitForNotification();
  EXPECT_EQ(finish_status_.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(finish_status_.message(), "client/1: too much");
}

TEST_F(HostedTestTest, StopsByItselfIfNobodyDoes) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  clock_.Advance(900'000'000);
  test_->StopIfOverdue();
  EXPECT_EQ(engines_.Count("client/0", EngineStep::kStop), 0);
  clock_.Advance(200'000'000);
  test_->StopIfOverdue();
  finished_.WaitForNotification();
}

TEST_F(HostedTestTest, CollectsFromAllInstancesAfterTheyHaveShutDown) {
  PrepareAndConnect();
  test_->Start(StartIn(0));
  finished_.WaitForNotification();
  std::vector<std::string> instances;
  const CollectReply reply = test_->Collect([&](ResultChunk chunk) {
    EXPECT_EQ(engines_.Count("client/1", EngineStep::kShutdown), 1);
    instances.push_back(chunk.instance());
  });
  EXPECT_EQ(reply.status().code(), 0);
  EXPECT_TRUE(reply.node_usage().has_rusage_diff());
  EXPECT_THAT(instances, AllOf(Contains("client/0"), Contains("client/1")));
}

TEST_F(HostedTestTest, ReportsProgressOfAllInstances) {
  PrepareAndConnect();
  const TrafficProgress progress = test_->TakeProgress();
  EXPECT_EQ(progress.succeeded_count(), 14);
  EXPECT_EQ(progress.offered_count(), 18);
  EXPECT_EQ(progress.open_loop_ended_count(), 10);
  EXPECT_EQ(progress.recent_service_time_ns().sum(), 2000);
  EXPECT_FALSE(progress.has_recent_response_time_ns());
}

TEST_F(HostedTestTest, ReportsTheHostAndItsUseSecondBySecond) {
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

TEST_F(HostedTestTest, InstancesShareTheMemoryForSamples) {
  request_.mutable_config()->mutable_traffic_config()->set_sample_memory_bytes(
      1000);
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_EQ(engines_.sample_memory_bytes("client/0"), 500);
}

TEST_F(HostedTestTest, EndShutsInstancesDown) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  test_->End();
  EXPECT_EQ(engines_.Count("client/0", EngineStep::kShutdown), 1);
  EXPECT_EQ(engines_.Count("client/1", EngineStep::kShutdown), 1);
}

}  // namespace
}  // namespace distbench
