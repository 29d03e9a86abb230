// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/testing/scarce_memory.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Waiting and shutting down, in every threading model.
class GrpcDriverEndTest : public testing::TestWithParam<Mode> {};

TEST_P(GrpcDriverEndTest, WakeEndsAPoll) {
  Client client(GetParam(), {});
  std::thread waker([&] { client.transport().Wake(); });
  client.transport().Poll(kNever, client.events());
  waker.join();
}

TEST_P(GrpcDriverEndTest, PollDoesNotWaitBeyondItsDeadline) {
  Client client(GetParam(), {});
  client.transport().Poll(0, client.events());
  const int64_t deadline_ns = base::NowNs() + 5'000'000;
  while (base::NowNs() < deadline_ns) {
    client.transport().Poll(deadline_ns, client.events());
  }
}

TEST_P(GrpcDriverEndTest, ShutdownEndsWhatIsInFlight) {
  Service service(GetParam(), [](Transport&, ServerCall*) {});
  Client client(GetParam(), {service.address()});
  std::vector<ClientCall> calls(50);
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  client.Shutdown();
  EXPECT_EQ(client.events().finished_count(), calls.size());

  // Calls that are started nevertheless end as well.
  ClientCall late{.request_bytes = 16};
  EXPECT_THAT(client.Call(late), StartsWith("CANCELLED: "));
}

TEST_P(GrpcDriverEndTest, ShutdownUnderLoad) {
  for (int round = 0; round < 5; ++round) {
    auto service =
        std::make_unique<Service>(GetParam(), Events::ReplyAsAsked, 2);
    Client client(GetParam(), {service->address()});
    bool stopping = false;
    int in_flight = 0;
    std::vector<ClientCall> calls(100);
    const auto start = [&](ClientCall* call) {
      ++in_flight;
      ASSERT_TRUE(client.transport().Start(call));
    };
    int done = 0;
    client.events().on_done = [&](ClientCall* call) {
      --in_flight;
      ++done;
      if (!stopping && call->error.empty()) start(call);
    };
    for (ClientCall& call : calls) start(&call);
    ASSERT_TRUE(client.events().PollUntil([&] { return done > 1000; }));
    if (round % 2 == 0) service.reset();
    stopping = true;
    client.Shutdown();
    EXPECT_EQ(in_flight, 0);
  }
}

TEST_P(GrpcDriverEndTest, RepliesAfterShutdownGoNowhere) {
  auto driver = MakeDriver(GetParam());
  const std::string address = driver->Listen(1).value();
  std::vector<ServerCall*> waiting;
  Events server_events(driver->transport(0), [&](Transport&, ServerCall* call) {
    waiting.push_back(call);
  });
  std::optional<Client> connected;
  {
    const PollingThread polled(driver->transport(0));
    connected.emplace(GetParam(), std::vector<std::string>{address});
  }
  Client& client = *connected;
  ClientCall calls[2];
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(server_events.PollUntil([&] { return waiting.size() == 2; }));
  std::atomic<bool> done = false;
  std::thread shutdown([&] {
    driver->Shutdown();
    done = true;
  });
  ASSERT_TRUE(server_events.PollUntil([&] { return done.load(); }));
  shutdown.join();
  // One is answered too late, the other never.
  driver->transport(0).Reply(waiting[0]);
  driver.reset();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 2; }));
}

TEST_P(GrpcDriverEndTest, DestructionNeedsNoShutdown) {
  Service service(GetParam(), [](Transport&, ServerCall*) {});
  auto driver = MakeDriver(GetParam());
  ASSERT_TRUE(driver->Listen(2).ok());
  ASSERT_TRUE(driver
                  ->Connect(SingleServers({service.address()}),
                            absl::Now() + absl::Seconds(20))
                  .ok());
  {
    ClientCall call{.request_bytes = 16};
    ASSERT_TRUE(driver->transport(1).Start(&call));
  }
  // The call is gone and must not be touched.
  driver.reset();
}

TEST_P(GrpcDriverEndTest, DriversThatNeverListenedMayGo) {
  MakeDriver(GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllModes, GrpcDriverEndTest,
                         testing::ValuesIn(AllModes()), ModeName);

// ---- Missing threads --------------------------------------------------------

TEST(GrpcDriverWithoutThreads, CanNotBeMade) {
  const auto library = MakeDriver();  // starts gRPC's own threads
  const base::ScarceThreads scarce(0);
  const absl::Status status =
      MakeGrpcDriver(Mode().Options(), DriverEnvironment()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("the timer of a gRPC driver"));
}

TEST(GrpcDriverWithoutThreads, CanBeShutDown) {
  Service service({.server_type = "handoff"});
  const base::ScarceThreads scarce(0);
  service.Stop();
}

}  // namespace
}  // namespace distbench::protocol
