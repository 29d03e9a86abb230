// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests what a client says when closed connections keep all local ports, in a
// network namespace that has few.

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;

constexpr int kPorts = 16;

// The calling thread's namespace is meant.
void SetSysctl(const std::string &name, const std::string &value) {
  std::ofstream file("/proc/sys/net/ipv4/" + name);
  file << value << std::flush;
  ASSERT_TRUE(file.good()) << name;
}

void StartLoopbackDevice() {
  const base::FileDescriptor socket = OpenSocket(AF_INET, NetworkSettings());
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  ASSERT_EQ(ioctl(socket.get(), SIOCSIFFLAGS, &request), 0);
}

// Runs this on a thread in a network namespace of its own, which its threads
// inherit. Returns false if this process may not make one.
bool RunInNewNetwork(const std::function<void()> &body) {
  bool may = false;
  std::thread([&] {
    may = unshare(CLONE_NEWNET) == 0;
    if (!may) return;
    StartLoopbackDevice();
    body();
  }).join();
  return may;
}

std::unique_ptr<ProtocolDriver> MakeUnboundDriver() {
  config::DriverOptions options;
  options.client_settings["calls_per_connection"] = int64_t{1};
  return std::make_unique<TcpDriver>(ReadTcpSettings(options),
                                     AddressPreference{}, "127.0.0.1");
}

std::string CallOnce(TestClient &client) {
  ClientCall call{.request_bytes = 16, .response_bytes = 16};
  return client.Call(call);
}

TEST(LocalPortsTest, AreKeptByClosedConnections) {
  const bool may = RunInNewNetwork([] {
    SetSysctl("ip_local_port_range",
              "40000 " + std::to_string(40'000 + kPorts - 1));
    SetSysctl("tcp_tw_reuse", "0");
    const TestServer server(MakeUnboundDriver);
    TestClient client(MakeUnboundDriver(), SingleServers({server.address()}));
    std::string error;
    int answered = -1;
    for (; error.empty() && answered < kPorts; ++answered) {
      error = CallOnce(client);
    }
    // One port is the server's; another one was needed to verify it.
    EXPECT_LT(answered, kPorts - 1);
    EXPECT_GE(answered, 1);
    EXPECT_THAT(error, HasSubstr("no local port is left"));
    EXPECT_THAT(error, HasSubstr("net.ipv4.tcp_tw_reuse"));

    // The default: over loopback, ports are used again after a second.
    SetSysctl("tcp_tw_reuse", "2");
    const absl::Time give_up = absl::Now() + absl::Seconds(20);
    while (!error.empty() && absl::Now() < give_up) error = CallOnce(client);
    EXPECT_EQ(error, "");
  });
  if (!may) GTEST_SKIP() << "making a network namespace requires root";
}

}  // namespace
}  // namespace distbench::protocol
