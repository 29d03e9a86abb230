// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/http2_driver.h"

#include <grpcpp/grpcpp.h>
#include <sys/socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/files.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_transport.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/tcp/testing/wire_time_conformance.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"

namespace distbench::http2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

using protocol::CallsPerConnectionTest;
using protocol::DriverConformanceTest;
using protocol::TimePartsConformanceTest;
using protocol::WireTimeConformanceTest;

std::vector<protocol::DriverUnderTest> Drivers(
    const std::vector<protocol::ConnectionVariant>& variants) {
  return protocol::DriversOf<Http2Driver, ReadHttp2Settings>(variants,
                                                             kHttp2Alpn);
}

INSTANTIATE_TEST_SUITE_P(Usual, DriverConformanceTest,
                         testing::ValuesIn(Drivers(protocol::UsualVariants())),
                         protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    ACallPerConnection, CallsPerConnectionTest,
    testing::ValuesIn(Drivers(protocol::OneCallVariants())),
    protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::ValuesIn(Drivers(protocol::TimedVariants())),
                         protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Stamped, WireTimeConformanceTest,
    testing::ValuesIn(Drivers(protocol::StampedVariants())),
    protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Own, DriverConformanceTest,
    testing::ValuesIn(Drivers(
        {{.name = "SmallWindows",
          .settings = {{"stream_window_bytes", int64_t{65'535}},
                       {"connection_window_bytes", int64_t{65'535}}}}})),
    protocol::NameOfDriver);

}  // namespace

// How a client counts connections that it makes anew.

namespace {

std::unique_ptr<Http2Driver> MakeReconnectingDriver() {
  return std::make_unique<Http2Driver>(
      ReadHttp2Settings({}), protocol::AddressPreference{}, "127.0.0.1");
}

// Waits for a connection.
base::FileDescriptor AcceptFrom(const base::ListeningSocket& listener) {
  base::FileDescriptor accepted;
  while (!accepted.is_open()) {
    accepted = protocol::AcceptConnection(listener.socket.get());
  }
  return accepted;
}

TEST(Http2ReconnectTest, AConnectionThatEndsDuringItsHandshakeHasFailed) {
  Http2Driver* server_driver = nullptr;
  const protocol::TestServer server([&] {
    auto driver = MakeReconnectingDriver();
    server_driver = driver.get();
    return driver;
  });
  const base::ListeningSocket listener = base::ListenAt("127.0.0.1:0").value();
  int first = -1;
  std::thread relay([&] {
    base::FileDescriptor accepted = AcceptFrom(listener);
    first = accepted.get();
    static_cast<protocol::SocketTransport&>(server_driver->transport(0))
        .Serve(std::move(accepted));
  });
  protocol::TestClient client(
      MakeReconnectingDriver(),
      protocol::SingleServers({absl::StrCat("127.0.0.1:", listener.port)}));
  relay.join();
  shutdown(first, SHUT_RDWR);
  protocol::ClientCall lost{.request_bytes = 16};
  EXPECT_THAT(client.Call(lost), StartsWith("UNAVAILABLE: "));
  // The second connection is closed at once.
  std::thread closer([&] { AcceptFrom(listener); });
  protocol::ClientCall waiting{.request_bytes = 16};
  EXPECT_THAT(client.Call(waiting), StartsWith("UNAVAILABLE: "));
  closer.join();
  std::map<std::string, int64_t> counters;
  for (const protocol::DriverCounter& counter : client.driver().Counters()) {
    counters[counter.name] = counter.value;
  }
  EXPECT_THAT(counters, IsSupersetOf({Pair("reconnects", 1),
                                      Pair("failed_reconnects", 1)}));
}

// A server at a Unix socket that lets nobody in for a moment, and never
// answers.
class SlowPeer {
 public:
  SlowPeer()
      : address_(protocol::NewUnixAddress(/*uses_tls=*/false).value()),
        listener_(protocol::ListenAtUnixAddress(address_).value()) {
    // Replaces the length of the queue, which is then filled.
    EXPECT_EQ(listen(listener_.get(), 0), 0);
    const protocol::SocketAddress queue =
        protocol::ResolveAddress(address_).value().front();
    while (true) {
      base::FileDescriptor client =
          protocol::OpenSocket(AF_UNIX, protocol::NetworkSettings());
      if (!protocol::BeginConnect(client.get(), queue)) break;
      clients_.push_back(std::move(client));
    }
  }

  const std::string& address() const { return address_; }

  void LetIn() {
    for (size_t i = 0; i < clients_.size(); ++i) {
      accepted_.push_back(protocol::AcceptConnection(listener_.get()));
    }
  }

 private:
  const std::string address_;
  const base::FileDescriptor listener_;
  std::vector<base::FileDescriptor> clients_;
  std::vector<base::FileDescriptor> accepted_;
};

// A server closes connections that stay silent. One that the client has made
// must not be among them because it still makes others.
TEST(Http2ReconnectTest, SaysHelloWhileOtherConnectionsAreBeingMade) {
  Http2Settings hasty = ReadHttp2Settings({});
  hasty.handshake_timeout_ns = 100'000'000;
  Http2Driver* server_driver = nullptr;
  const protocol::TestServer server([&] {
    auto driver = std::make_unique<Http2Driver>(
        hasty, protocol::AddressPreference{}, "127.0.0.1");
    server_driver = driver.get();
    return driver;
  });
  SlowPeer slow;
  const auto client = MakeReconnectingDriver();
  ASSERT_TRUE(client->Listen(1).ok());
  std::thread later([&] {
    absl::SleepFor(absl::Milliseconds(300));
    slow.LetIn();
  });
  const std::string problem = base::Message(client->Connect(
      protocol::SingleServers({server.address(), slow.address()}),
      absl::Now() + absl::Seconds(1)));
  later.join();
  EXPECT_THAT(problem, AllOf(HasSubstr(slow.address()),
                             HasSubstr("no answer to the handshake in time"),
                             Not(HasSubstr(server.address()))));
  for (const protocol::DriverCounter& counter : server_driver->Counters()) {
    EXPECT_NE(counter.name, "connections_lost_hello_timeout");
  }
}

// A server of gRPC that ends each connection after a moment, as many do to
// spread their clients: it says so (GOAWAY), answers what it has, and closes.
class LeavingService final : public Traffic::Service {
 public:
  // `streams` is how many calls it takes at a time on a connection.
  explicit LeavingService(int streams = 100) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, streams);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 30);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  grpc::Status Handshake(grpc::ServerContext*, const HandshakeRequest* request,
                         HandshakeResponse* response) override {
    response->ParseFromString(
        protocol::AnswerHandshake("", request->SerializeAsString()).value());
    return grpc::Status::OK;
  }

  grpc::Status GenericRpc(grpc::ServerContext*, const GenericRequestResponse*,
                          GenericRequestResponse*) override {
    return grpc::Status::OK;
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(Http2ReconnectTest, CallsGoOnWhenAServerEndsItsConnections) {
  const LeavingService service;
  protocol::TestClient client(MakeReconnectingDriver(),
                              protocol::SingleServers({service.address()}));
  constexpr int64_t kRenewals = 5;
  const auto renewals = [&] {
    for (const protocol::DriverCounter& counter : client.driver().Counters()) {
      if (counter.name == "renewed_connections") return counter.value;
    }
    return int64_t{0};
  };
  // Each reply starts the next call, also in the read that brings the GOAWAY.
  std::vector<protocol::ClientCall> calls(4);
  std::vector<std::string> errors;
  bool goes_on = true;
  client.events().on_done = [&](protocol::ClientCall* call) {
    if (!call->error.empty()) errors.emplace_back(call->error);
    if (!goes_on) return;
    EXPECT_TRUE(client.transport().Start(call));
  };
  for (protocol::ClientCall& call : calls) {
    call.request_bytes = 16;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  EXPECT_TRUE(
      client.events().PollUntil([&] { return renewals() >= kRenewals; }));
  goes_on = false;
  client.Shutdown();
  std::erase_if(errors, [](const std::string& error) {
    return error.starts_with("CANCELLED");  // by the end of the test
  });
  EXPECT_THAT(errors, testing::IsEmpty());
}

// The wait for the server's limit of streams is part of the service time, also
// if the call then goes over another connection.
TEST(Http2ReconnectTest, ACallThatMovesKeepsItsTimeOfSending) {
  const LeavingService service(/*streams=*/1);
  protocol::TestClient client(MakeReconnectingDriver(),
                              protocol::SingleServers({service.address()}));
  const auto renewals = [&] {
    for (const protocol::DriverCounter& counter : client.driver().Counters()) {
      if (counter.name == "renewed_connections") return counter.value;
    }
    return int64_t{0};
  };
  struct Sent {
    protocol::ClientCall call;
    int64_t first_ns = 0;
  };
  std::vector<Sent> all(8);
  int overwritten = 0;
  client.events().on_done = [&](protocol::ClientCall* call) {
    for (Sent& one : all) {
      if (&one.call != call) continue;
      if (one.first_ns != 0 && call->sent_ns != one.first_ns) ++overwritten;
      one.first_ns = 0;
    }
    call->sent_ns = 0;
    EXPECT_TRUE(client.transport().Start(call));
  };
  for (Sent& one : all) {
    one.call.request_bytes = 16;
    ASSERT_TRUE(client.transport().Start(&one.call));
  }
  constexpr int64_t kRenewals = 5;
  EXPECT_TRUE(client.events().PollUntil([&] {
    for (Sent& one : all) {
      if (one.first_ns == 0) one.first_ns = one.call.sent_ns;
    }
    return renewals() >= kRenewals;
  }));
  client.events().on_done = [](protocol::ClientCall*) {};
  client.Shutdown();
  EXPECT_EQ(overwritten, 0);
}

}  // namespace
}  // namespace distbench::http2
