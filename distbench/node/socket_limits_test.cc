#include "distbench/node/socket_limits.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "distbench/numa/testing/fake_host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
