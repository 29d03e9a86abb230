// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Accepts connections and then stays silent.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {.sin_family = AF_INET,
                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_, generic, length), 0);
    EXPECT_EQ(listen(socket_, SOMAXCONN), 0);
    EXPECT_EQ(getsockname(socket_, generic, &length), 0);
    address_ = absl::StrCat("ipv4:127.0.0.1:", ntohs(address.sin_port));
  }
  ~SilentServer() { close(socket_); }

  const std::string& address() const { return address_; }

 private:
  const int socket_;
  std::string address_;
};

// Failures are reported, in every threading model.
class GrpcDriverFailureTest : public testing::TestWithParam<Mode> {};

TEST_P(GrpcDriverFailureTest, CallsToAServerThatIsGoneFail) {
  auto service = std::make_unique<Service>(GetParam());
  Client client(GetParam(), {service->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_EQ(client.Call(call), "");
  service.reset();
  EXPECT_THAT(client.Call(call), StartsWith("UNAVAILABLE: "));
  EXPECT_GT(call.done_ns, 0);
}

TEST_P(GrpcDriverFailureTest, CallsInFlightFailWhenTheServerGoes) {
  std::atomic<int> arrived = 0;
  auto service = std::make_unique<Service>(
      GetParam(), [&](Transport&, ServerCall*) { ++arrived; });
  Client client(GetParam(), {service->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_TRUE(client.transport().Start(&call));
  ASSERT_TRUE(client.events().PollUntil([&] { return arrived == 1; }));
  service.reset();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().Finished(call); }));
  EXPECT_THAT(client.events().error(call),
              AnyOf(StartsWith("UNAVAILABLE: "), StartsWith("CANCELLED: ")));
}

TEST_P(GrpcDriverFailureTest, DeadlinesEndCalls) {
  Service service(GetParam(), [](Transport&, ServerCall*) {});
  Client client(GetParam(), {service.address()});
  const int64_t start_ns = base::NowNs();
  ClientCall call{.request_bytes = 16, .deadline_ns = start_ns + 30'000'000};
  EXPECT_THAT(client.Call(call), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_GE(call.done_ns, call.deadline_ns);
}

TEST_P(GrpcDriverFailureTest, CancelledCallsEnd) {
  std::atomic<int> arrived = 0;
  Service service(GetParam(), [&](Transport&, ServerCall*) { ++arrived; });
  Client client(GetParam(), {service.address()});
  ClientCall calls[10];
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil([&] { return arrived == 10; }));
  client.transport().CancelCalls();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 10; }));
  for (ClientCall& call : calls) {
    EXPECT_THAT(client.events().error(call), StartsWith("CANCELLED: "));
  }
}

TEST_P(GrpcDriverFailureTest, ConnectNamesThePeerThatIsNotThere) {
  Service service(GetParam());
  std::string closed_address;
  {
    auto closed = MakeDriver(GetParam());
    closed_address = closed->Listen(1).value();
  }
  auto driver = MakeDriver(GetParam());
  ASSERT_TRUE(driver->Listen(2).ok());
  const absl::Status status = driver->Connect(
      SingleServers({service.address(), closed_address, "nonsense:::1"}),
      absl::Now() + absl::Milliseconds(300));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(closed_address), HasSubstr("nonsense:::1"),
                    Not(HasSubstr(service.address()))));
}

TEST_P(GrpcDriverFailureTest, ConnectToAPeerThatIsSilentCanBeAborted) {
  const SilentServer silent;
  auto driver = MakeDriver(GetParam());
  ASSERT_TRUE(driver->Listen(2).ok());
  std::thread aborter([&] { driver->AbortConnect(); });
  EXPECT_EQ(
      driver->Connect(SingleServers({silent.address()}), absl::InfiniteFuture())
          .code(),
      absl::StatusCode::kCancelled);
  aborter.join();
}

TEST_P(GrpcDriverFailureTest, ListenRefusesForeignAddresses) {
  config::DriverOptions options = GetParam().Options();
  options.netdev = "no-such-device";
  auto driver = MakeGrpcDriver(options, {}).value();
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              HasSubstr("no-such-device"));
}

TEST_P(GrpcDriverFailureTest, ListensOnIpv4AndNames) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    auto driver =
        MakeGrpcDriver(GetParam().Options(), {.service_address = host}).value();
    const std::string address = driver->Listen(1).value();
    EXPECT_THAT(address, AnyOf(StartsWith("ipv4:127.0.0.1:"),
                               StartsWith("dns:///localhost:")));
    const PollingThread polled(driver->transport(0));
    auto client = MakeDriver(GetParam());
    ASSERT_TRUE(client->Listen(1).ok());
    EXPECT_EQ(client->Connect(SingleServers({address}),
                              absl::Now() + absl::Seconds(20)),
              absl::OkStatus());
  }
}

TEST_P(GrpcDriverFailureTest, UsesTheHostsBestAddressByDefault) {
  auto driver = MakeGrpcDriver(GetParam().Options(), {}).value();
  const std::string address = driver->Listen(1).value();
  EXPECT_THAT(address, AnyOf(StartsWith("ipv4:"), StartsWith("ipv6:[")));
  const PollingThread polled(driver->transport(0));
  auto client = MakeDriver(GetParam());
  ASSERT_TRUE(client->Listen(1).ok());
  EXPECT_EQ(client->Connect(SingleServers({address}),
                            absl::Now() + absl::Seconds(20)),
            absl::OkStatus());
}

INSTANTIATE_TEST_SUITE_P(AllModes, GrpcDriverFailureTest,
                         testing::ValuesIn(AllModes()), ModeName);

}  // namespace
}  // namespace distbench::protocol
