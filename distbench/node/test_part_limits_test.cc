// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/test_part.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/threads.h"
#include "distbench/node/testing/test_part_fixture.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using TestPartLimitsTest = TestPartFixture;

// Threads with a name, which last as long as the object.
class NamedThreads {
 public:
  NamedThreads(int count, const char* name) : named_(count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, name] {
        base::NameThread(name);
        named_.DecrementCount();
        end_.WaitForNotification();
      });
    }
    named_.Wait();
  }

  ~NamedThreads() {
    end_.Notify();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  absl::BlockingCounter named_;
  absl::Notification end_;
  std::vector<std::thread> threads_;
};

TEST_F(TestPartLimitsTest, CountsOnlyThreadsOfTheTest) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  test.mutable_overload_limits()->set_max_threads(2);
  test.set_workers_per_instance(1);
  const NamedThreads others(5, "library");
  EXPECT_EQ(Make().Prepare().status().code(), 0);
  const NamedThreads handlers(2, base::kHandlerThread);
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("Too many threads running: 2 of the test"),
                    HasSubstr("but its overload_limits.max_threads is 2; "
                              "raise it")));
}

TEST_F(TestPartLimitsTest, CountsThreadsBeforeAnInstanceIsMade) {
  DistributedSystemDescription& test =
      *request_.mutable_config()->mutable_traffic_config();
  test.mutable_overload_limits()->set_max_threads(199);
  test.set_workers_per_instance(200);
  const PrepareReply reply = Make().Prepare();
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("client/0: Too many threads running"),
                    HasSubstr("before 200 more are started")));
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kMake), 0);
}

TEST_F(TestPartLimitsTest, RefusesInstancesForWhichTheHostHasNoThreads) {
  const numa::FakeHost host;
  environment_.system_root = host.root();
  host.Write("/proc/self/cgroup", "0::/\n");
  host.Write("/sys/fs/cgroup/pids.max", "64\n");
  host.Write("/sys/fs/cgroup/pids.current", "62\n");
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(),
              AllOf(HasSubstr("client/0: its engine process needs up to"),
                    HasSubstr("allows 64 threads"), HasSubstr("raise")));
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kMake), 0);
}

TEST_F(TestPartLimitsTest, RefusesInstancesThatTheNodesLimitsDoNotFit) {
  engines_.SetLimits({.max_threads = 5});
  EXPECT_THAT(Make().Prepare().status().message(),
              HasSubstr("--engine_max_threads is 5"));
  engines_.SetLimits({.max_files = 10});
  EXPECT_THAT(Make().Prepare().status().message(),
              HasSubstr("this process may have 10 open"));
}

TEST_F(TestPartLimitsTest, StrictRequirementsThatAreNotMetFailBeforeAnything) {
  const numa::FakeHost host;
  environment_.system_root = host.root();
  host.Write("/sys/devices/system/cpu/smt/active", "1\n");
  HostRequirements& requirements = *request_.mutable_config()
                                        ->mutable_traffic_config()
                                        ->mutable_requirements();
  NamedSetting& smt = *requirements.add_facts();
  smt.set_name("smt");
  smt.set_string_value("off");
  NamedSetting& boost = *requirements.add_facts();
  boost.set_name("cpu_boost");
  boost.set_string_value("off");
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(
      reply.status().message(),
      HasSubstr("smt is \"on\", but the test requires \"off\"; cpu_boost is "
                "not known, but the test requires \"off\". Change the host"));
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kMake), 0);

  requirements.set_strict(false);
  EXPECT_EQ(Make().Prepare().status().code(), 0);
  requirements.set_strict(true);
  requirements.mutable_facts()->RemoveLast();
  smt.set_string_value("on");
  EXPECT_EQ(Make().Prepare().status().code(), 0);
}

TEST_F(TestPartLimitsTest, RefusesATestThatAllowsLessMemoryThanIsUsed) {
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_overload_limits()
      ->set_max_memory_bytes(1);
  const PrepareReply reply = Make().Prepare();
  EXPECT_EQ(reply.status().code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(reply.status().message(), HasSubstr("Too much memory used"));
}

TEST_F(TestPartLimitsTest, MemoryBeyondTheLimitEndsTheTraffic) {
  // A host with 16 MiB, of which this process first uses 4 KiB, and then all.
  const numa::FakeHost host;
  environment_.system_root = host.root();
  host.Write("/proc/meminfo", "MemTotal: 16384 kB\nMemAvailable: 12288 kB\n");
  host.Write("/proc/self/statm", "9999 1 0 0 0 0 0\n");
  engines_.SetEndless(true);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  test_->StopIfOverloaded();
  EXPECT_FALSE(finished_.HasBeenNotified());
  host.Write("/proc/self/statm", "9999 4096 0 0 0 0 0\n");
  test_->StopIfOverloaded();
  finished_.WaitForNotification();
  EXPECT_TRUE(absl::IsResourceExhausted(finish_status_)) << finish_status_;
}

TEST_F(TestPartLimitsTest, RefusesATestThatNeedsMoreFilesThanThereMayBe) {
  request_.set_workers_per_instance(500'000'000);
  const CommandStatus status = Make().Prepare().status();
  EXPECT_EQ(status.code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status.message(), HasSubstr("500000000 workers open"));
}

TEST_F(TestPartLimitsTest, RefusesATestThatNeedsMoreSocketsThanThereMayBe) {
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
  const numa::FakeHost host;
  environment_.system_root = host.root();
  host.Write("/proc/sys/net/ipv4/ip_local_port_range", "1000 1999\n");
  const CommandStatus prepared = Make().Prepare().status();
  ASSERT_EQ(prepared.code(), 0) << prepared.message();
  const CommandStatus status = test_->Connect(Peers());
  EXPECT_EQ(status.code(),
            static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status.message(), HasSubstr("need"));
}

TEST_F(TestPartLimitsTest, ThreadsBeyondTheLimitEndTheTraffic) {
  engines_.SetEndless(true);
  request_.mutable_config()
      ->mutable_traffic_config()
      ->mutable_overload_limits()
      ->set_max_threads(50);
  PrepareAndConnect();
  ASSERT_EQ(test_->Start(StartIn(0)).status().code(), 0);
  {
    const NamedThreads handlers(60, base::kHandlerThread);
    test_->StopIfOverloaded();
  }
  finished_.WaitForNotification();
  EXPECT_TRUE(absl::IsResourceExhausted(finish_status_)) << finish_status_;
}

TEST_F(TestPartLimitsTest, OverloadOfOneInstanceEndsTheTraffic) {
  engines_.SetEndless(true);
  engines_.OverloadAt("client/1");
  PrepareAndConnect();
  test_->Start(StartIn(0));
  finished_.WaitForNotification();
  EXPECT_EQ(finish_status_.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(finish_status_.message(), "client/1: too much");
}

TEST_F(TestPartLimitsTest, StopsByItselfIfNobodyDoes) {
  engines_.SetEndless(true);
  PrepareAndConnect();
  test_->Start(StartIn(0));
  clock_.Advance(900'000'000);
  test_->StopIfOverdue();
  EXPECT_EQ(engines_.Count("client/0", hosting::EngineStep::kStop), 0);
  clock_.Advance(200'000'000);
  test_->StopIfOverdue();
  finished_.WaitForNotification();
}

TEST_F(TestPartLimitsTest, InstancesShareTheMemoryForSamples) {
  request_.mutable_config()->mutable_traffic_config()->set_sample_memory_bytes(
      1000);
  ASSERT_EQ(Make().Prepare().status().code(), 0);
  EXPECT_EQ(engines_.sample_memory_bytes("client/0"), 500);
}

}  // namespace
}  // namespace distbench::node
