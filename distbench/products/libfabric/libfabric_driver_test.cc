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
#include "distbench/products/libfabric/address.h"
#include "distbench/products/libfabric/providers.h"
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

}  // namespace
}  // namespace distbench::libfabric
