// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_limits.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTest[] = R"(
  tests {
    services { name: "client" count: 1 protocol_driver_options_name: "pool" }
    services { name: "server" count: 1 }
    default_protocol: "grpc"
    protocol_driver_options {
      name: "pool"
      protocol_name: "grpc"
      server_settings { name: "server_type" string_value: "polling" }
      server_settings { name: "threadpool_size" int64_value: 13 }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    actions { name: "run" rpc_name: "query" }
    actions { name: "own" activity_config_name: "own" }
    actions { name: "common" activity_config_name: "common" }
    actions { name: "wait" activity_config_name: "wait" }
    activity_configs {
      name: "own" pool_name: "pool"
      activity_settings { name: "activity_func" string_value: "SpinFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_configs {
      name: "common"
      activity_settings { name: "activity_func" string_value: "SpinFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_configs {
      name: "wait" pool_name: "places"
      activity_settings { name: "activity_func" string_value: "SleepFor" }
      activity_settings { name: "duration_us" int64_value: 1 }
    }
    activity_pools { name: "pool" size: 7 }
    activity_pools { name: "places" size: 100 }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "query"
      action_names: "own" action_names: "common" action_names: "wait"
    }
  })";

TEST(ThreadNeedsTest, AreWorkersAndPools) {
  TestSequence sequence;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kTest, &sequence));
  const auto checked = config::CheckTestSequence(sequence);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const config::Plan plan = config::Compile(checked->tests(0));
  const ThreadNeeds client = CountThreads(plan, /*instance=*/0, 3);
  EXPECT_EQ(client.workers, 3);
  EXPECT_EQ(client.activities, 0);
  EXPECT_EQ(client.handlers, 13);
  EXPECT_EQ(client.total(), 16);
  // One pool has 7 threads, the other one thread per worker.
  const ThreadNeeds server = CountThreads(plan, /*instance=*/1, 3);
  EXPECT_EQ(server.activities, 7 + 3);
  EXPECT_EQ(server.handlers, 0);
}

constexpr ThreadNeeds kNeeds = {.workers = 20, .activities = 5, .handlers = 1};

TEST(ThreadLimitsTest, EnoughIsEnough) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  EXPECT_EQ(CheckThreads(kNeeds, {.left = needed}, needed), absl::OkStatus());
  EXPECT_EQ(CheckThreads(kNeeds, {}, 0), absl::OkStatus());
  EXPECT_EQ(CheckThreadsOfEngine(7, 7), absl::OkStatus());
  EXPECT_EQ(CheckThreadsOfEngine(7, 0), absl::OkStatus());
}

TEST(ThreadLimitsTest, TheHostsAreNamed) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  const absl::Status status = CheckThreads(
      kNeeds, {.left = needed - 1, .limit = "its group allows 64"}, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("20 workers, 5 for activities, 1 for requests"),
            HasSubstr("its group allows 64"), HasSubstr("raise that limit")));
}

TEST(ThreadLimitsTest, SoIsTheNodeManagers) {
  const int64_t needed = 26 + OtherThreadsOfEngine();
  const absl::Status foreseen = CheckThreads(kNeeds, {}, needed - 1);
  EXPECT_TRUE(absl::IsResourceExhausted(foreseen));
  EXPECT_THAT(std::string(foreseen.message()),
              HasSubstr("--engine_max_threads"));
  const absl::Status seen = CheckThreadsOfEngine(8, 7);
  EXPECT_TRUE(absl::IsResourceExhausted(seen));
  EXPECT_THAT(std::string(seen.message()),
              AllOf(HasSubstr("has 8 threads"),
                    HasSubstr("--engine_max_threads is 7")));
}

constexpr int64_t kKib = 1024;
constexpr int64_t kMib = 1024 * kKib;

// A host with 16 MiB, of which 12 are available.
class MemoryLimitTest : public testing::Test {
 protected:
  MemoryLimitTest() {
    SetAvailableKib(12 * kKib);
    SetResident(4 * kMib);
  }

  void SetAvailableKib(int64_t kib) {
    host_.Write("/proc/meminfo",
                absl::StrCat("MemTotal:       16384 kB\n",
                             "MemAvailable:   ", kib, " kB\n"));
  }

  void SetResident(int64_t bytes) {
    host_.Write(
        "/proc/self/statm",
        absl::StrCat("99999 ", bytes / sysconf(_SC_PAGESIZE), " 10 1 0 9\n"));
  }

  std::string Error(const MemoryLimit& limit) {
    return std::string(limit.Check({}).message());
  }

  const numa::FakeHost host_;
};

TEST_F(MemoryLimitTest, ATestMaySayHowMuch) {
  const MemoryLimit limit(10 * kMib, host_.root());
  EXPECT_TRUE(limit.Check({}).ok()) << limit.Check({});
  SetResident(11 * kMib);
  EXPECT_TRUE(absl::IsResourceExhausted(limit.Check({})));
  EXPECT_THAT(Error(limit),
              AllOf(HasSubstr("11.0 MiB, but the test's overload_limits."
                              "max_memory_bytes is 10.0 MiB"),
                    HasSubstr("raise it")));
}

TEST_F(MemoryLimitTest, TheDefaultIsNineTenths) {
  const MemoryLimit limit(0, host_.root());
  SetResident(14 * kMib);
  EXPECT_TRUE(limit.Check({}).ok()) << limit.Check({});
  SetResident(15 * kMib);
  EXPECT_THAT(Error(limit), HasSubstr("nine tenths"));
}

TEST_F(MemoryLimitTest, TheHostKeepsATwentiethUnlessTheTestSaysHowMuch) {
  SetAvailableKib(818);
  EXPECT_THAT(Error(MemoryLimit(0, host_.root())),
              AllOf(HasSubstr("left on the host: 0.8 MiB"),
                    HasSubstr("this node uses 4.0 MiB")));
  EXPECT_TRUE(MemoryLimit(10 * kMib, host_.root()).Check({}).ok());
}

TEST_F(MemoryLimitTest, WhatIsNotKnownLimitsNothing) {
  const MemoryLimit limit(0, host_.root() + "/nowhere");
  EXPECT_TRUE(limit.Check({}).ok()) << limit.Check({});
}

constexpr SocketLimits kLimits = {
    .max_open_files = 1000, .open_files = 100, .local_ports = 500};

std::string Error(const SocketNeeds& needs, const SocketLimits& limits) {
  return std::string(CheckSockets(needs, limits).message());
}

TEST(SocketLimitsTest, AreThoseOfThisProcessAndHost) {
  const SocketLimits limits = ReadSocketLimits("");
  EXPECT_GE(limits.open_files, 3);
  EXPECT_GT(limits.local_ports, 0);
}

TEST(SocketLimitsTest, AreThoseOfTheProcessThatIsMeant) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {.rlim_cur = 77, .rlim_max = 77};
    setrlimit(RLIMIT_NOFILE, &limit);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(ReadSocketLimits("", child).max_open_files, 77);
  EXPECT_NE(ReadSocketLimits("").max_open_files, 77);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

TEST(SocketLimitsTest, PortsAreCountedWithTheLast) {
  const numa::FakeHost host;
  host.Write("/proc/sys/net/ipv4/ip_local_port_range", "1024\t1033\n");
  EXPECT_EQ(ReadSocketLimits(host.root()).local_ports, 10);
  EXPECT_EQ(ReadSocketLimits(host.root()).open_files, 0);
}

TEST(SocketLimitsTest, EachWorkerConnectsToEachPeer) {
  config::DriverOptions grpc;
  grpc.client_settings["channels"] = int64_t{2};
  config::DriverOptions tcp = {.driver = "tcp"};
  tcp.client_settings["connections"] = int64_t{5};
  const config::DriverOptions decorated = {.driver = "double_barrel",
                                           .decorated = {tcp}};
  const config::DriverOptions loopback = {.driver = "loopback"};
  const SocketNeeds needs = CountSockets(
      {{.driver = &grpc, .worker_count = 3, .peers = {"a/0", "a/1"}},
       {.driver = &decorated, .worker_count = 2, .peers = {"a/1"}},
       {.driver = &loopback, .worker_count = 9, .peers = {"a/1", "b/0"}}});
  EXPECT_EQ(needs.sockets, 3 * 2 * 2 + 2 * 5);
  EXPECT_EQ(needs.busiest_peer, "a/1");
  EXPECT_EQ(needs.connections_to_busiest_peer, 3 * 2 + 2 * 5);
}

TEST(SocketLimitsTest, EnoughIsEnough) {
  EXPECT_TRUE(CheckSockets({.sockets = 884}, kLimits).ok());
  EXPECT_TRUE(CheckSockets({.connections_to_busiest_peer = 500}, kLimits).ok());
}

TEST(SocketLimitsTest, TooManySocketsAreForeseen) {
  EXPECT_THAT(
      Error({.sockets = 885}, kLimits),
      AllOf(HasSubstr("need at least 885 sockets"),
            HasSubstr("may have 1000 files open"), HasSubstr("ulimit -n")));
}

TEST(SocketLimitsTest, TooManyConnectionsToOnePeerAreForeseen) {
  EXPECT_THAT(
      Error({.busiest_peer = "server/0", .connections_to_busiest_peer = 501},
            kLimits),
      AllOf(HasSubstr("501 connections to server/0"),
            HasSubstr("ip_local_port_range")));
}

TEST(SocketLimitsTest, FilesOfWorkersAreForeseen) {
  EXPECT_TRUE(CheckWorkerFiles({}, 294, kLimits).ok());
  EXPECT_TRUE(CheckWorkerFiles({}, 1'000'000, {}).ok());
  EXPECT_THAT(std::string(CheckWorkerFiles({}, 295, kLimits).message()),
              AllOf(HasSubstr("295 workers open up to 885 files"),
                    HasSubstr("ulimit -n")));
}

TEST(SocketLimitsTest, WhatIsNotKnownLimitsNothing) {
  EXPECT_TRUE(CheckSockets({.sockets = 1'000'000'000,
                            .connections_to_busiest_peer = 1'000'000'000},
                           {})
                  .ok());
}

TEST(SocketLimitsTest, ErrorsAreExplainedOnceSocketsHaveRunOut) {
  const absl::Status error = absl::UnavailableError("cannot connect");
  EXPECT_EQ(ExplainBySockets(error, kLimits), error);
  EXPECT_EQ(ExplainBySockets(error, {}), error);
  EXPECT_EQ(ExplainBySockets(absl::OkStatus(),
                             {.max_open_files = 10, .open_files = 10}),
            absl::OkStatus());
  const absl::Status explained =
      ExplainBySockets(error, {.max_open_files = 1000, .open_files = 990});
  EXPECT_TRUE(absl::IsUnavailable(explained));
  EXPECT_THAT(std::string(explained.message()),
              AllOf(StartsWith("cannot connect; this process has 990 of"),
                    HasSubstr("ulimit -n")));
}

}  // namespace
}  // namespace distbench::node
