// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/libfabric_driver.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "distbench/base/clock.h"
#include "distbench/products/libfabric/declaration.h"
#include "distbench/products/libfabric/fabric.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/products/libfabric/testing/busy_provider.h"
#include "distbench/products/libfabric/wire.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::libfabric {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kPatienceNs = 20'000'000'000;

// "tcp/msg" is tcp with connected endpoints.
std::unique_ptr<LibfabricDriver> MakeDriver(
    const std::string& carrier, protocol::AddressPreference preference = {},
    bool tls_is_wanted = false) {
  config::DriverOptions options;
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(carrier, absl::MaxSplits('/', 1));
  options.server_settings["provider"] = parts.first;
  if (!parts.second.empty()) options.server_settings["endpoint"] = parts.second;
  LibfabricSettings settings = ReadLibfabricSettings(options);
  settings.answer_timeout_ns = 500'000'000;
  return std::make_unique<LibfabricDriver>(settings, std::move(preference),
                                           "127.0.0.1", "nonce", tls_is_wanted);
}

// A server in a process of its own.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& provider) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) Serve(provider, ends[1]);
    close(ends[1]);
    char buffer[4096];
    const ssize_t count = read(ends[0], buffer, sizeof(buffer));
    close(ends[0]);
    EXPECT_GT(count, 0);
    if (count > 0) address_.assign(buffer, count);
  }
  ~ServerProcess() { Kill(); }

  const std::string& address() const { return address_; }

  // Makes it read no more.
  void Pause() { kill(pid_, SIGSTOP); }

  void Kill() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  [[noreturn]] static void Serve(const std::string& provider, int out) {
    const pid_t parent = getppid();
    const auto driver = MakeDriver(provider);
    const std::string address = driver->Listen(1).value();
    if (write(out, address.data(), address.size()) < 0) _exit(1);
    protocol::TestEvents events(driver->transport(0));
    while (getppid() == parent) {
      const int64_t now_ns = base::RealClock().MonotonicNs();
      driver->transport(0).Poll(now_ns + 100'000'000, events);
    }
    _exit(0);
  }

  pid_t pid_ = 0;
  std::string address_;
};

class TwoProcessesTest : public testing::TestWithParam<std::string> {};

TEST_P(TwoProcessesTest, CallsHaveExactSizes) {
  ServerProcess server(GetParam());
  protocol::TestClient client(MakeDriver(GetParam()),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {16, 1000, 4096, 70'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = size, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(call.received_bytes, size);
  }
}

// A process that was killed says no goodbye.
TEST_P(TwoProcessesTest, CallsToAKilledServerFail) {
  ServerProcess server(GetParam());
  protocol::TestClient client(MakeDriver(GetParam()),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 16};
  ASSERT_EQ(client.Call(call), "");
  server.Kill();
  const int64_t killed_ns = base::RealClock().MonotonicNs();
  EXPECT_THAT(client.Call(call), StartsWith("UNAVAILABLE: "));
  EXPECT_LT(call.done_ns - killed_ns, kPatienceNs);
}

INSTANTIATE_TEST_SUITE_P(Providers, TwoProcessesTest,
                         testing::Values("shm", "tcp", "tcp/msg"));

// Together, the servers are sent more messages than there are buffers.
TEST(ConnectedEndpointsTest, LostServersGiveBuffersBack) {
  constexpr int kLost = 5;
  std::vector<std::unique_ptr<ServerProcess>> servers;
  std::vector<std::string> addresses;
  for (int i = 0; i <= kLost; ++i) {
    servers.push_back(std::make_unique<ServerProcess>("tcp/msg"));
    addresses.push_back(servers.back()->address());
  }
  protocol::TestClient client(MakeDriver("tcp/msg"),
                              protocol::SingleServers(addresses));
  protocol::ClientCall calls_to[kLost][10];
  for (int i = 0; i < kLost; ++i) {
    servers[i]->Pause();
    auto& calls = calls_to[i];
    for (protocol::ClientCall& call : calls) {
      call = {.peer = i, .request_bytes = 3 << 20};
      if (!client.transport().Start(&call)) call.peer = -1;
    }
    const auto have_ended = [&] {
      return absl::c_all_of(calls, [&](const protocol::ClientCall& call) {
        return call.peer < 0 || client.events().Finished(call);
      });
    };
    EXPECT_FALSE(have_ended());
    servers[i]->Kill();
    ASSERT_TRUE(client.events().PollUntil(have_ended)) << i;
  }
  protocol::ClientCall call{.peer = kLost, .request_bytes = 3 << 20};
  EXPECT_EQ(client.Call(call), "");
}

TEST(LibfabricDriverTest, SharedMemoryIsNotForOneProcess) {
  const auto server = MakeDriver("shm");
  const std::string address = server->Listen(1).value();
  const auto client = MakeDriver("shm");
  ASSERT_TRUE(client->Listen(1).ok());
  const absl::Status status = client->Connect(
      protocol::SingleServers({address}), absl::InfiniteFuture());
  EXPECT_THAT(std::string(status.message()), HasSubstr("same process"));
}

TEST(LibfabricDriverTest, UnknownProvidersAreToldWhichThereAre) {
  const auto driver = MakeDriver("tpc");
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              AllOf(HasSubstr("\"tpc\""), HasSubstr("shm")));
}

TEST(LibfabricDriverTest, NotAllProvidersHaveConnectedEndpoints) {
  const auto driver = MakeDriver("shm/msg");
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              AllOf(HasSubstr("\"shm\" of connected endpoints"),
                    HasSubstr("tcp"), HasSubstr("FI_EP_MSG")));
}

TEST(LibfabricDriverTest, TlsIsRefused) {
  const auto driver = MakeDriver("tcp", {}, /*tls_is_wanted=*/true);
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              HasSubstr("no TLS"));
}

TEST(LibfabricDriverTest, SharedMemoryHasNoNetworkDevice) {
  const auto driver = MakeDriver("shm", {.netdev = "lo"});
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              HasSubstr("netdev_name"));
}

TEST(LibfabricDriverTest, PeersHaveTheSameProvider) {
  const auto client = MakeDriver("tcp");
  ASSERT_TRUE(client->Listen(1).ok());
  for (const char* address :
       {"libfabric:shm:6162", "libfabric:tcp/msg:6162", "127.0.0.1:80"}) {
    const absl::Status status = client->Connect(
        protocol::SingleServers({address}), absl::InfiniteFuture());
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
}

TEST(LibfabricDriverTest, AbortEndsConnect) {
  const auto silent = MakeDriver("tcp");
  const std::string address = silent->Listen(1).value();
  const auto client = MakeDriver("tcp");
  ASSERT_TRUE(client->Listen(1).ok());
  client->AbortConnect();
  const absl::Status status = client->Connect(
      protocol::SingleServers({address}), absl::InfiniteFuture());
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

TEST(AddressTest, IsReadAsWritten) {
  const LibfabricAddress address = {.carrier = "tcp;ofi_rxm",
                                    .endpoints = {std::string("\0a", 2), "b"}};
  const std::string text = FormatAddress(address);
  EXPECT_EQ(text, "libfabric:tcp;ofi_rxm:0061,62");
  const auto parsed = ParseAddress(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->carrier, address.carrier);
  EXPECT_EQ(parsed->endpoints, address.endpoints);
  EXPECT_EQ(parsed->OfWorker(3), "b");
}

TEST(AddressTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "libfabric:", "libfabric:tcp", "libfabric:tcp:", "libfabric:tcp:0",
        "libfabric:tcp:zz", "libfabric:tcp:00,"}) {
    EXPECT_FALSE(ParseAddress(text).ok()) << text;
  }
}

TEST(ProvidersTest, ThereIsSharedMemory) {
  EXPECT_THAT(ListLibfabricProviders(), Contains("shm"));
}

using protocol::DriverConformanceTest;
using protocol::TimePartsConformanceTest;

struct Variant {
  std::string provider;
  int64_t receive_buffer_bytes = 64 << 10;
  int64_t spin_us = 0;
  bool measures_time_parts = false;
  std::string endpoint = kRdmEndpoint;
};

protocol::DriverUnderTest MakeVariant(const Variant& variant) {
  return {[variant](const std::string& test_nonce) {
    config::DriverOptions options;
    options.server_settings["provider"] = variant.provider;
    options.server_settings["endpoint"] = variant.endpoint;
    options.server_settings["receive_buffer_bytes"] =
        variant.receive_buffer_bytes;
    options.client_settings["spin_us"] = variant.spin_us;
    LibfabricSettings settings = ReadLibfabricSettings(options);
    settings.measures_time_parts = variant.measures_time_parts;
    return std::make_unique<LibfabricDriver>(
        settings, protocol::AddressPreference{}, "127.0.0.1", test_nonce);
  }};
}

INSTANTIATE_TEST_SUITE_P(Tcp, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp"})));
INSTANTIATE_TEST_SUITE_P(SmallBuffers, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp;ofi_rxm", 4096})));
INSTANTIATE_TEST_SUITE_P(Spinning, DriverConformanceTest,
                         testing::Values(MakeVariant({"tcp", 64 << 10, 100})));
INSTANTIATE_TEST_SUITE_P(Connected, DriverConformanceTest,
                         testing::Values(MakeVariant({.provider = "tcp",
                                                      .endpoint = "msg"})));
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::Values(MakeVariant({"tcp", 64 << 10, 0,
                                                      true})));

}  // namespace

// Tests of endpoints whose transmit queues are full.

namespace {

class FullQueueTest : public testing::Test {
 protected:
  static std::unique_ptr<protocol::ProtocolDriver> MakeDriver() {
    return std::make_unique<LibfabricDriver>(ReadLibfabricSettings({}),
                                             protocol::AddressPreference{},
                                             "127.0.0.1", "nonce");
  }

  BusyProvider provider_;
};

// The sizes are sent by each of the functions that send.
TEST_F(FullQueueTest, RefusedRequestsAreSentAgain) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {16, 400, 70'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = size, .response_bytes = 16};
    BusyProvider::RefuseNext(3);
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(BusyProvider::left(), 0);
    EXPECT_EQ(call.received_bytes, 16);
    // The time of the attempt that was accepted.
    EXPECT_GE(call.sent_ns, BusyProvider::refused_ns()) << size;
  }
}

TEST_F(FullQueueTest, RefusedRepliesAreSentAgain) {
  const auto reply = [](protocol::Transport& transport,
                        protocol::ServerCall* call) {
    BusyProvider::RefuseNext(3);
    protocol::TestEvents::ReplyAsAsked(transport, call);
  };
  protocol::TestServer server(MakeDriver, reply);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {16, 400, 70'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(BusyProvider::left(), 0);
    EXPECT_EQ(call.received_bytes, size);
  }
}

// Nothing else would wake the worker sooner than in a second.
TEST_F(FullQueueTest, SendsAreTriedAgainSoon) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  const int64_t begin_ns = base::RealClock().MonotonicNs();
  BusyProvider::RefuseNext(100);
  ASSERT_TRUE(client.transport().Start(&call));
  while (!client.events().Finished(call)) {
    client.transport().Poll(begin_ns + 60'000'000'000, client.events());
  }
  EXPECT_EQ(client.events().error(call), "");
  EXPECT_LT(base::RealClock().MonotonicNs() - begin_ns, 3'000'000'000);
}

TEST_F(FullQueueTest, RequestsKeepTheirOrder) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall calls[8];
  int64_t last_ns = 0;
  BusyProvider::RefuseNext(3);
  for (protocol::ClientCall& call : calls) {
    call = {.request_bytes = 16, .response_bytes = 16};
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 8; }));
  for (const protocol::ClientCall& call : calls) {
    EXPECT_EQ(client.events().error(call), "");
    EXPECT_GE(call.sent_ns, last_ns);
    last_ns = call.sent_ns;
  }
}

TEST_F(FullQueueTest, HellosAreSentAgain) {
  protocol::TestServer server(MakeDriver);
  BusyProvider::RefuseNext(10);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  EXPECT_EQ(BusyProvider::left(), 0);
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  EXPECT_EQ(client.Call(call), "");
}

TEST_F(FullQueueTest, CallsEndWhileTheirRequestsWait) {
  protocol::TestServer server(MakeDriver);
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 16, .response_bytes = 16};
  BusyProvider::RefuseNext(INT64_MAX);
  ASSERT_TRUE(client.transport().Start(&call));
  client.transport().CancelCalls();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().Finished(call); }));
  EXPECT_NE(client.events().error(call), "");
  BusyProvider::RefuseNext(0);
  EXPECT_EQ(client.Call(call), "");
}

}  // namespace
}  // namespace distbench::libfabric
