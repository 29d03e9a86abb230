// How a client counts connections that it makes anew.

#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/listen_address.h"
#include "distbench/protocol/http2/http2_driver.h"
#include "distbench/protocol/http2/settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_transport.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::StartsWith;

std::unique_ptr<Http2Driver> MakeReconnectingDriver() {
  return std::make_unique<Http2Driver>(ReadHttp2Settings({}),
                                       AddressPreference{}, "127.0.0.1");
}

// Waits for a connection.
FileDescriptor AcceptFrom(const ListeningSocket& listener) {
  FileDescriptor accepted;
  while (!accepted.is_open()) {
    accepted = AcceptConnection(listener.socket.get());
  }
  return accepted;
}

TEST(Http2ReconnectTest, AConnectionThatEndsDuringItsHandshakeHasFailed) {
  Http2Driver* server_driver = nullptr;
  const TestServer server([&] {
    auto driver = MakeReconnectingDriver();
    server_driver = driver.get();
    return driver;
  });
  const ListeningSocket listener = ListenAt("127.0.0.1:0").value();
  int first = -1;
  std::thread relay([&] {
    FileDescriptor accepted = AcceptFrom(listener);
    first = accepted.get();
    static_cast<StreamTransport&>(server_driver->transport(0))
        .Serve(std::move(accepted));
  });
  TestClient client(MakeReconnectingDriver(),
                    SingleServers({absl::StrCat("127.0.0.1:", listener.port)}));
  relay.join();
  shutdown(first, SHUT_RDWR);
  ClientCall lost{.request_bytes = 16};
  EXPECT_THAT(client.Call(lost), StartsWith("UNAVAILABLE: "));
  // The second connection is closed at once.
  std::thread closer([&] { AcceptFrom(listener); });
  ClientCall waiting{.request_bytes = 16};
  EXPECT_THAT(client.Call(waiting), StartsWith("UNAVAILABLE: "));
  closer.join();
  std::map<std::string, int64_t> counters;
  for (const DriverCounter& counter : client.driver().Counters()) {
    counters[counter.name] = counter.value;
  }
  EXPECT_THAT(counters, IsSupersetOf({Pair("reconnects", 1),
                                      Pair("failed_reconnects", 1)}));
}

}  // namespace
}  // namespace distbench
