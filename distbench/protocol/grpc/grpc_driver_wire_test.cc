// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "distbench/security/nonce.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

// The wire format is that of data_plane.proto, in every threading model.
class GrpcDriverWireTest : public testing::TestWithParam<Mode> {};

std::shared_ptr<grpc::Channel> PlainChannel(const std::string& target) {
  return grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
}

TEST_P(GrpcDriverWireTest, ServesGeneratedClients) {
  Service service(GetParam(), [](Transport& transport, ServerCall* call) {
    call->reply_instance = call->rpc_index + 1;
    call->reply_error = call->warmup ? "warm" : "";
    call->reply_bytes = call->response_bytes;
    transport.Reply(call);
  });
  const auto stub = Traffic::NewStub(PlainChannel(service.address()));
  GenericRequestResponse request;
  request.set_rpc_index(41);
  request.set_warmup(true);
  request.set_response_payload_size(5000);
  request.set_payload(std::string(100'000, 'x'));
  request.set_after_payload32(1);
  GenericRequestResponse response;
  grpc::ClientContext context;
  const grpc::Status status = stub->GenericRpc(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.server_instance(), 42);
  EXPECT_EQ(response.error_message(), "warm");
  EXPECT_EQ(response.ByteSizeLong(), 5000);
}

// Records what it is sent, and by whom.
class GeneratedServer final : public Traffic::Service {
 public:
  GeneratedServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const {
    return "ipv4:127.0.0.1:" + std::to_string(port_);
  }

  grpc::Status GenericRpc(grpc::ServerContext* context,
                          const GenericRequestResponse* request,
                          GenericRequestResponse* response) override {
    const absl::MutexLock lock(&mutex);
    last_request = *request;
    peers.insert(context->peer());
    if (request->rpc_index() == 99) {
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many");
    }
    response->set_server_instance(7);
    response->set_payload(std::string(3000, 'D'));
    return grpc::Status::OK;
  }

  grpc::Status Handshake(grpc::ServerContext*, const HandshakeRequest* request,
                         HandshakeResponse* response) override {
    response->set_proof(security::ProveNonce("", request->challenge()));
    return grpc::Status::OK;
  }

  absl::Mutex mutex;
  GenericRequestResponse last_request;
  std::set<std::string> peers;

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_P(GrpcDriverWireTest, CallsGeneratedServers) {
  GeneratedServer server;
  Client client(GetParam(), {server.address()});
  ClientCall call{.rpc_index = 2, .server_instance = 3, .request_bytes = 777};
  ASSERT_EQ(client.Call(call), "");
  EXPECT_EQ(call.responding_instance, 7);
  EXPECT_EQ(call.received_bytes, 3005);
  const absl::MutexLock lock(&server.mutex);
  EXPECT_EQ(server.last_request.rpc_index(), 2);
  EXPECT_EQ(server.last_request.server_instance(), 3);
  EXPECT_EQ(server.last_request.ByteSizeLong(), 777);
}

TEST_P(GrpcDriverWireTest, StatusOfTheServerIsTheError) {
  GeneratedServer server;
  Client client(GetParam(), {server.address()});
  ClientCall call{.rpc_index = 99, .request_bytes = 16};
  EXPECT_EQ(client.Call(call), "RESOURCE_EXHAUSTED: too many");
}

TEST_P(GrpcDriverWireTest, ConnectionsAreNeverShared) {
  GeneratedServer server;
  for (int driver = 0; driver < 2; ++driver) {
    auto client = MakeDriver(GetParam());
    ASSERT_TRUE(client->Listen(2).ok());
    // The same peer twice, as with two instances in one process.
    ASSERT_TRUE(
        client
            ->Connect(SingleServers({server.address(), server.address()}),
                      absl::Now() + absl::Seconds(20))
            .ok());
    for (int worker = 0; worker < 2; ++worker) {
      Events events(client->transport(worker));
      for (int peer = 0; peer < 2; ++peer) {
        ClientCall call{.peer = peer, .request_bytes = 16};
        ASSERT_EQ(events.Call(call), "");
      }
    }
  }
  const absl::MutexLock lock(&server.mutex);
  EXPECT_EQ(server.peers.size(), 8);
}

TEST_P(GrpcDriverWireTest, AnswersHandshakes) {
  Service service(GetParam());
  const auto stub = Traffic::NewStub(PlainChannel(service.address()));
  HandshakeRequest request;
  HandshakeResponse response;
  request.set_challenge(std::string(security::kNonceBytes, 'c'));
  {
    grpc::ClientContext context;
    ASSERT_TRUE(stub->Handshake(&context, request, &response).ok());
  }
  EXPECT_EQ(response.proof(), security::ProveNonce("", request.challenge()));
  // More challenges than are answered at a time, and of many lengths.
  for (int i = 0; i < 100; ++i) {
    request.set_challenge(std::string(i, 'c'));
    grpc::ClientContext context;
    EXPECT_EQ(stub->Handshake(&context, request, &response).ok(),
              i == security::kNonceBytes);
  }
}

// A gRPC server that does not belong to distbench.
TEST_P(GrpcDriverWireTest, SendsNothingToServersThatKnowNoHandshake) {
  class Stranger final : public Traffic::Service {
   public:
    grpc::Status GenericRpc(grpc::ServerContext*, const GenericRequestResponse*,
                            GenericRequestResponse*) override {
      ++requests;
      return grpc::Status::OK;
    }
    std::atomic<int> requests = 0;
  } stranger;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&stranger);
  const auto server = builder.BuildAndStart();
  const auto driver = MakeDriver(GetParam());
  ASSERT_TRUE(driver->Listen(1).ok());
  const std::string address = "ipv4:127.0.0.1:" + std::to_string(port);
  const absl::Status status = driver->Connect(SingleServers({address}),
                                              absl::Now() + absl::Seconds(20));
  EXPECT_NE(std::string(status.message()).find(address), std::string::npos);
  EXPECT_NE(std::string(status.message()).find("not an instance of distbench"),
            std::string::npos);
  EXPECT_EQ(stranger.requests, 0);
}

TEST_P(GrpcDriverWireTest, ChannelsAreConnectionsThatTakeTurns) {
  constexpr int kChannels = 3;
  GeneratedServer server;
  config::DriverOptions options = GetParam().Options();
  options.client_settings["channels"] = int64_t{kChannels};
  auto client =
      MakeGrpcDriver(options, {.service_address = "127.0.0.1"}).value();
  ASSERT_TRUE(client->Listen(1).ok());
  ASSERT_TRUE(client
                  ->Connect(SingleServers({server.address()}),
                            absl::Now() + absl::Seconds(20))
                  .ok());
  Events events(client->transport(0));
  const auto connections_seen = [&] {
    const absl::MutexLock lock(&server.mutex);
    return server.peers.size();
  };
  for (size_t i = 1; i <= 2 * kChannels; ++i) {
    ClientCall call{.request_bytes = 16};
    ASSERT_EQ(events.Call(call), "");
    EXPECT_EQ(connections_seen(), std::min<size_t>(i, kChannels));
  }
}

grpc::Status CallRaw(const std::string& target, const std::string& method,
                     const std::string& bytes) {
  grpc::GenericStub stub(PlainChannel(target));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  const grpc::Slice slice(bytes);
  const auto reader = stub.PrepareUnaryCall(
      &context, method, grpc::ByteBuffer(&slice, 1), &queue);
  reader->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  reader->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status;
}

TEST_P(GrpcDriverWireTest, RefusesMalformedRequestsAndGoesOn) {
  constexpr int kMoreThanAcceptedAhead = 150;
  std::atomic<int> arrived = 0;
  Service service(GetParam(), [&](Transport& transport, ServerCall* call) {
    ++arrived;
    Events::ReplyAsAsked(transport, call);
  });
  const std::string method = "/distbench.Traffic/GenericRpc";
  for (int i = 0; i < kMoreThanAcceptedAhead; ++i) {
    const grpc::Status status = CallRaw(service.address(), method, "\xff");
    ASSERT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  EXPECT_EQ(arrived, 0);
  EXPECT_TRUE(CallRaw(service.address(), method, "").ok());
  EXPECT_EQ(arrived, 1);
}

TEST_P(GrpcDriverWireTest, UnknownMethodsAreUnimplemented) {
  Service service(GetParam());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        CallRaw(service.address(), "/distbench.Traffic/Other", "").error_code(),
        grpc::StatusCode::UNIMPLEMENTED);
  }
}

INSTANTIATE_TEST_SUITE_P(AllModes, GrpcDriverWireTest,
                         testing::ValuesIn(AllModes()), ModeName);

}  // namespace
}  // namespace distbench::protocol
