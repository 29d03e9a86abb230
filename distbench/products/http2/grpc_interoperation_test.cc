// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Our HTTP/2 against gRPC's own: drivers `http2` and `grpc` as each other's
// peers, and gRPC's C++ client with protobuf's messages.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/products/http2/http2_driver.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/security/credentials.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"

namespace distbench::http2 {
namespace {

const security::TlsFiles& Files() {
  static const auto* const authority = new security::TestAuthority("authority");
  static const auto* const files =
      new security::TlsFiles(authority->IssueForLocalhost("node"));
  return *files;
}

protocol::DriverFactory Http2(bool uses_tls,
                              const std::string& nonce = "ours") {
  return [=] {
    protocol::ConnectionSecurity security = {.test_nonce = nonce};
    if (uses_tls)
      security.tls = security::TlsContext::Make(
                         Files(), security::TlsRole::kNode, kHttp2Alpn)
                         .value();
    return std::make_unique<Http2Driver>(ReadHttp2Settings({}),
                                         protocol::AddressPreference{},
                                         "127.0.0.1", std::move(security));
  };
}

protocol::DriverFactory Grpc(bool uses_tls) {
  return [=] {
    protocol::DriverEnvironment environment = {.service_address = "127.0.0.1",
                                               .test_nonce = "ours"};
    if (uses_tls) {
      environment.tls =
          security::TlsCredentials::Load(Files(), security::TlsRole::kNode)
              .value();
    }
    return protocol::MakeGrpcDriver({}, environment).value();
  };
}

class GrpcInteroperationTest : public testing::TestWithParam<bool> {};

// Calls of many sizes, between them more than any window.
void ExpectService(const protocol::DriverFactory& client_side,
                   const protocol::DriverFactory& server_side) {
  const protocol::TestServer server(server_side);
  // gRPC's name for the family of an address is for gRPC only.
  const std::string address =
      absl::StrReplaceAll(server.address(), {{"ipv4:", ""}});
  protocol::TestClient client(client_side(),
                              protocol::SingleServers({address}));
  const std::string trace(40'000, 'T');
  for (const int64_t size : {16, 1000, 20'000, 3 << 20}) {
    for (int i = 0; i < 10; ++i) {
      protocol::ClientCall call{.request_bytes = size, .response_bytes = size};
      if (i == 5) call.trace_context = trace;
      ASSERT_EQ(client.Call(call), "") << size;
      EXPECT_EQ(call.received_bytes, size);
    }
  }
}

TEST_P(GrpcInteroperationTest, GrpcServesUs) {
  ExpectService(Http2(GetParam()), Grpc(GetParam()));
}

TEST_P(GrpcInteroperationTest, WeServeGrpc) {
  ExpectService(Grpc(GetParam()), Http2(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(PlainAndTls, GrpcInteroperationTest, testing::Bool());

// Other implementations write the fields in the order of their numbers, some of
// them behind the payload.
TEST(GrpcClientTest, FieldsMayFollowThePayload) {
  const protocol::TestServer server(Http2(false));
  const auto stub = Traffic::NewStub(grpc::CreateChannel(
      server.address(), grpc::InsecureChannelCredentials()));
  GenericRequestResponse request;
  request.set_response_payload_size(100);
  request.set_payload(std::string(100'000, 'P'));
  request.set_after_payload32(7);
  grpc::ClientContext context;
  GenericRequestResponse response;
  const grpc::Status status = stub->GenericRpc(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.ByteSizeLong(), 100);
}

TEST(GrpcClientTest, UnknownMethodsAreUnimplemented) {
  const protocol::TestServer server(Http2(false));
  const auto stub = ConnectionSetup::NewStub(grpc::CreateChannel(
      server.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  ConnectResponse response;
  const grpc::Status status =
      stub->SetupConnection(&context, ConnectRequest(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST(GrpcClientTest, MalformedHandshakesAreRefused) {
  const protocol::TestServer server(Http2(false));
  const auto stub = Traffic::NewStub(grpc::CreateChannel(
      server.address(), grpc::InsecureChannelCredentials()));
  HandshakeRequest request;
  request.set_challenge("short");
  grpc::ClientContext context;
  HandshakeResponse response;
  const grpc::Status status = stub->Handshake(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// A server of gRPC that refuses all requests.
class RefusingService final : public Traffic::Service {
 public:
  RefusingService() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  // How long the last client would have waited for its response.
  absl::Duration last_timeout() const {
    return absl::Nanoseconds(timeout_ns_.load());
  }

 private:
  grpc::Status Handshake(grpc::ServerContext*, const HandshakeRequest* request,
                         HandshakeResponse* response) override {
    response->ParseFromString(
        protocol::AnswerHandshake("ours", request->SerializeAsString())
            .value());
    return grpc::Status::OK;
  }

  grpc::Status GenericRpc(grpc::ServerContext* context,
                          const GenericRequestResponse*,
                          GenericRequestResponse*) override {
    const bool is_limited =
        context->deadline() != std::chrono::system_clock::time_point::max();
    timeout_ns_ = is_limited
                      ? absl::ToInt64Nanoseconds(
                            absl::FromChrono(context->deadline()) - absl::Now())
                      : INT64_MAX;
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "100% full: \xc3\xa4\n"};
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::atomic<int64_t> timeout_ns_ = 0;
};

TEST(GrpcServerTest, ErrorsAreNamedAsWithGrpc) {
  const RefusingService server;
  protocol::TestClient client(Http2(false)(),
                              protocol::SingleServers({server.address()}));
  protocol::TestClient grpc_client(Grpc(false)(),
                                   protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client.Call(call), "RESOURCE_EXHAUSTED: 100% full: \xc3\xa4\n");
  EXPECT_EQ(client.Call(call), grpc_client.Call(call));
}

TEST(GrpcServerTest, ServersLearnHowLongTheClientWaits) {
  const RefusingService server;
  protocol::TestClient client(Http2(false)(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  client.Call(call);
  EXPECT_EQ(server.last_timeout(), absl::Nanoseconds(INT64_MAX));
  call.deadline_ns = base::RealClock().MonotonicNs() + 3'600'000'000'000;
  client.Call(call);
  EXPECT_LE(server.last_timeout(), absl::Hours(1));
  EXPECT_GT(server.last_timeout(), absl::Minutes(50));
}

// A server that lets one request in at a time makes the others wait, and says
// so.
TEST(Http2LimitsTest, TheLimitOfStreamsIsKeptAndCounted) {
  config::DriverOptions options;
  options.server_settings["max_concurrent_streams"] = int64_t{1};
  const protocol::TestServer server([&] {
    return std::make_unique<Http2Driver>(
        ReadHttp2Settings(options), protocol::AddressPreference{}, "127.0.0.1");
  });
  protocol::TestClient client(Http2(false, "")(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall calls[5];
  for (protocol::ClientCall& call : calls) {
    call.request_bytes = 100;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 5; }));
  for (protocol::ClientCall& call : calls)
    EXPECT_EQ(client.events().error(call), "");
  int64_t waits = 0;
  for (const protocol::DriverCounter& counter : client.driver().Counters()) {
    if (counter.name == "stream_limit_waits") waits = counter.value;
  }
  EXPECT_GT(waits, 0);
}

TEST(Http2LimitsTest, WaitsForWindowsAreCounted) {
  config::DriverOptions options;
  options.server_settings["stream_window_bytes"] = int64_t{65'535};
  const protocol::TestServer server([&] {
    return std::make_unique<Http2Driver>(
        ReadHttp2Settings(options), protocol::AddressPreference{}, "127.0.0.1");
  });
  protocol::TestClient client(Http2(false, "")(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.request_bytes = 4 << 20};
  ASSERT_EQ(client.Call(call), "");
  EXPECT_THAT(client.driver().Counters(),
              testing::Contains(testing::Field(&protocol::DriverCounter::name,
                                               "window_waits")));
}

}  // namespace
}  // namespace distbench::http2
