// RPCs of the test that stream, beside external calls.

#include <cstdint>
#include <memory>
#include <string>

#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/external/calls/external_router.h"
#include "distbench/products/external/calls/testing/foreign_server.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/streams.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/protocol/testing/streaming_conformance.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using protocol::StreamingConformanceTest;

std::unique_ptr<protocol::ProtocolDriver> MakeStreamingGrpc(
    const std::string& nonce) {
  return protocol::MakeGrpcStreamDriver(
             {.driver = "grpc_stream"},
             {.service_address = "127.0.0.1", .test_nonce = nonce})
      .value();
}

// RPCs of the test may stream beside external calls.
INSTANTIATE_TEST_SUITE_P(
    Routed, StreamingConformanceTest,
    testing::Values(
        protocol::DriverUnderTest{.make_for_test =
                                      [](const std::string& nonce) {
                                        return MakeExternalRouter(
                                            MakeStreamingGrpc(nonce), {});
                                      }},
        protocol::DriverUnderTest{
            .make_for_test = [](const std::string& nonce) {
              return MakeExternalRouter(
                  protocol::MakeLoopbackDriver(base::RealClock(), nonce, false),
                  {});
            }}));

// Awaits the end of a stream.
class StreamEnd final : public protocol::TransportEvents,
                        private protocol::StreamEvents {
 public:
  bool has_come() const { return has_come_; }

 private:
  protocol::StreamEvents* stream_events() override { return this; }
  void OnDone(protocol::ClientCall*, int64_t) override { has_come_ = true; }
  void OnDone(protocol::ClientCall*) override {}
  void OnRequest(protocol::ServerCall*) override {}
  void OnWritten(protocol::ClientCall&, int64_t) override {}
  void OnMessage(protocol::ClientCall&, int64_t, int64_t) override {}
  void OnOpened(protocol::ServerCall*) override {}
  void OnWritten(protocol::ServerCall&, int64_t) override {}
  void OnMessage(protocol::ServerCall&, int64_t, int64_t) override {}
  void OnRequestsOver(protocol::ServerCall&, int64_t) override {}
  void OnBroken(protocol::ServerCall&, int64_t) override {}

  bool has_come_ = false;
};

TEST(ExternalStreamsTest, RoutesStreamsByTheirPeers) {
  ForeignServer server(Echo);
  protocol::TestServer inner([] { return MakeStreamingGrpc(""); });
  const auto client =
      ClientOf(CallsOf(kEcho),
               protocol::SingleServers({server.address(), inner.address()}),
               MakeStreamingGrpc(""));
  protocol::StreamTransport& streams = *client->transport().streams();
  protocol::ClientCall call = {.peer = 1};
  streams.Open(&call);
  EXPECT_EQ(call.peer, 1);
  streams.Write(call, 100, /*last=*/true);
  StreamEnd end;
  while (!end.has_come()) client->transport().Poll(INT64_MAX, end);
  // As the server of the test says, which has no RPCs that stream.
  EXPECT_THAT(std::string(call.error), testing::StartsWith("UNAVAILABLE"));
  client->Shutdown();
}

}  // namespace
}  // namespace distbench::external
