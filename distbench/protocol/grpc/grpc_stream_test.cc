// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

using ::testing::StartsWith;

constexpr int64_t kLargeBytes = 1 << 20;

std::unique_ptr<ProtocolDriver> MakeStreamDriver(
    const config::DriverOptions& options = {}) {
  return MakeGrpcStreamDriver(options, {.service_address = "127.0.0.1"})
      .value();
}

config::DriverOptions ClientSetting(const std::string& name, int64_t value) {
  config::DriverOptions options;
  options.client_settings[name] = value;
  return options;
}

// Returns 0 if there is no such counter.
int64_t CounterOf(const ProtocolDriver& driver, const std::string& name) {
  for (const DriverCounter& counter : driver.Counters()) {
    if (counter.name == name) return counter.value;
  }
  return 0;
}

// The wire format is that of data_plane.proto.
class GrpcStreamWireTest : public testing::Test {
 protected:
  using Stream = grpc::ClientReaderWriter<StreamMessage, StreamMessage>;

  TestServer server_{[] { return MakeStreamDriver(); }};
  const std::unique_ptr<Traffic::Stub> stub_ =
      Traffic::NewStub(grpc::CreateChannel(server_.address(),
                                           grpc::InsecureChannelCredentials()));
  grpc::ClientContext context_;
  const std::unique_ptr<Stream> stream_ = stub_->GenericStream(&context_);
};

TEST_F(GrpcStreamWireTest, ServesGeneratedClients) {
  StreamMessage request;
  request.set_sequence(77);
  request.mutable_message()->set_rpc_index(1);
  request.mutable_message()->set_response_payload_size(5000);
  ASSERT_TRUE(stream_->Write(request));
  StreamMessage reply;
  ASSERT_TRUE(stream_->Read(&reply));
  EXPECT_EQ(reply.sequence(), 77);
  EXPECT_EQ(reply.message().ByteSizeLong(), 5000);
  // The server ends the stream when it has answered everything.
  ASSERT_TRUE(stream_->WritesDone());
  EXPECT_FALSE(stream_->Read(&reply));
  EXPECT_TRUE(stream_->Finish().ok());
}

TEST_F(GrpcStreamWireTest, MalformedRequestsEndTheStream) {
  StreamMessage request;
  request.set_sequence(77);  // and no message
  ASSERT_TRUE(stream_->Write(request));
  StreamMessage reply;
  EXPECT_FALSE(stream_->Read(&reply));
  EXPECT_EQ(stream_->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(GrpcStreamTest, ServersTakeNoRequestsFromAClientThatDoesNotRead) {
  constexpr int kRequests = 100;
  constexpr int kWaiting = 4;
  std::atomic<int> taken = 0;
  const TestServer server(
      [] {
        return MakeStreamDriver(ClientSetting("send_queue_messages", kWaiting));
      },
      [&](Transport& transport, ServerCall* call) {
        if (call->response_bytes > kLargeBytes / 2) ++taken;
        TestEvents::ReplyAsAsked(transport, call);
      });
  const auto stub = Traffic::NewStub(grpc::CreateChannel(
      server.address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->GenericStream(&context);
  StreamMessage request;
  request.mutable_message()->set_response_payload_size(kLargeBytes);
  for (int i = 0; i < kRequests; ++i) {
    request.set_sequence(i + 1);
    ASSERT_TRUE(stream->Write(request));
  }
  // The server has many occasions to take them meanwhile.
  TestClient other(MakeStreamDriver(), SingleServers({server.address()}));
  ClientCall call;
  for (int i = 0; i < 10 * kRequests; ++i) ASSERT_EQ(other.Call(call), "");
  // gRPC takes some of the replies.
  EXPECT_LE(taken, kWaiting + 10);
  // All are answered once the client reads.
  StreamMessage reply;
  for (int i = 0; i < kRequests; ++i) ASSERT_TRUE(stream->Read(&reply)) << i;
  ASSERT_TRUE(stream->WritesDone());
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(GrpcStreamTest, AFullQueueHoldsCallsBack) {
  TestServer server([] { return MakeStreamDriver(); });
  TestClient client(MakeStreamDriver(ClientSetting("send_queue_messages", 2)),
                    SingleServers({server.address()}));
  ClientCall calls[4];
  // gRPC has the first one until the queue is polled, and two wait.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.transport().Start(&calls[i]));
  EXPECT_FALSE(client.transport().Start(&calls[3]));
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 3; }));
  EXPECT_EQ(client.Call(calls[3]), "");
  EXPECT_EQ(CounterOf(client.driver(), "messages_waited"), 2);
}

TEST(GrpcStreamTest, DestructionNeedsNoShutdown) {
  TestServer server([] { return MakeStreamDriver(); });
  auto driver = MakeStreamDriver();
  ASSERT_TRUE(driver->Listen(1).ok());
  ASSERT_TRUE(driver
                  ->Connect(SingleServers({server.address()}),
                            absl::Now() + absl::Seconds(20))
                  .ok());
  auto call = std::make_unique<ClientCall>(ClientCall{.request_bytes = 16});
  ASSERT_TRUE(driver->transport(0).Start(call.get()));
  const ClientCall before = *call;
  driver.reset();
  // The caller may have freed it by then: it is as it was.
  EXPECT_EQ(call->transport_state, before.transport_state);
  EXPECT_EQ(call->sent_ns, before.sent_ns);
}

TEST(GrpcStreamTest, StreamsAreReplaced) {
  TestServer server([] { return MakeStreamDriver(); });
  TestClient client(MakeStreamDriver(ClientSetting("messages_per_stream", 2)),
                    SingleServers({server.address()}));
  for (int i = 0; i < 5; ++i) {
    ClientCall call;
    ASSERT_EQ(client.Call(call), "");
  }
  EXPECT_EQ(CounterOf(client.driver(), "streams_opened"), 3);
  EXPECT_EQ(CounterOf(client.driver(), "streams_failed"), 0);
}

TEST(GrpcStreamTest, FailedStreamsAreCountedAndNamed) {
  auto server = std::make_unique<TestServer>([] { return MakeStreamDriver(); });
  TestClient client(MakeStreamDriver(), SingleServers({server->address()}));
  ClientCall call;
  ASSERT_EQ(client.Call(call), "");
  const std::string address = server->address();
  server.reset();
  EXPECT_THAT(client.Call(call),
              StartsWith("UNAVAILABLE: the stream to " + address + " ended: "));
  EXPECT_GE(CounterOf(client.driver(), "streams_failed"), 1);
}

TEST(GrpcStreamTest, AllCallsOfAllStreamsFailWithTheServer) {
  constexpr int kStreams = 4;
  constexpr int kCalls = 10 * kStreams;
  std::atomic<int> taken = 0;
  auto server =
      std::make_unique<TestServer>([] { return MakeStreamDriver(); },
                                   [&](Transport&, ServerCall*) { ++taken; });
  TestClient client(MakeStreamDriver(ClientSetting("streams", kStreams)),
                    SingleServers({server->address()}));
  std::vector<ClientCall> calls(kCalls);
  for (ClientCall& call : calls) ASSERT_TRUE(client.transport().Start(&call));
  ASSERT_TRUE(client.events().PollUntil([&] { return taken == kCalls; }));
  const std::string address = server->address();
  server.reset();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == kCalls; }));
  for (const ClientCall& call : calls) {
    EXPECT_THAT(client.events().error(call),
                StartsWith("UNAVAILABLE: the stream to " + address));
    EXPECT_GT(call.sent_ns, 0);
  }
  EXPECT_EQ(CounterOf(client.driver(), "streams_failed"), kStreams);
}

// Answers the last of some calls when the first has come, and leaves.
class HastyServer final : public Traffic::Service {
 public:
  // Their requests do not fit into the windows of a stream together.
  static constexpr int kCalls = 32;

  HastyServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const {
    return "ipv4:127.0.0.1:" + std::to_string(port_);
  }

  grpc::Status Handshake(grpc::ServerContext*, const HandshakeRequest* request,
                         HandshakeResponse* response) override {
    response->ParseFromString(
        AnswerHandshake("", request->SerializeAsString()).value());
    return grpc::Status::OK;
  }

  grpc::Status GenericStream(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<StreamMessage, StreamMessage>* stream) override {
    StreamMessage message;
    stream->Read(&message);
    // A client's first calls have these numbers.
    EXPECT_EQ(message.sequence(), 0);
    message.Clear();
    message.set_sequence(kCalls - 1);
    message.mutable_message();
    stream->Write(message);
    return grpc::Status::OK;
  }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(GrpcStreamTest, AReplyToARequestThatWaitsIsNone) {
  HastyServer server;
  TestClient client(MakeStreamDriver(), SingleServers({server.address()}));
  std::vector<ClientCall> calls(HastyServer::kCalls);
  for (ClientCall& call : calls) {
    call.request_bytes = kLargeBytes;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == HastyServer::kCalls; }));
  EXPECT_THAT(client.events().error(calls.back()),
              StartsWith("UNAVAILABLE: the stream to "));
  EXPECT_GT(calls.back().sent_ns, 0);
}

// At the end of a test, servers may leave before their clients.
TEST(GrpcStreamTest, StreamsThatEndWhileTheyAreIdleHaveNotFailed) {
  TestServer leaving([] { return MakeStreamDriver(); });
  TestServer staying([] { return MakeStreamDriver(); });
  TestClient client(MakeStreamDriver(),
                    SingleServers({leaving.address(), staying.address()}));
  ClientCall call;
  ASSERT_EQ(client.Call(call), "");
  leaving.Stop();
  call.peer = 1;
  // The client learns of the end meanwhile.
  for (int i = 0; i < 200; ++i) ASSERT_EQ(client.Call(call), "");
  EXPECT_EQ(CounterOf(client.driver(), "streams_opened"), 2);
  EXPECT_EQ(CounterOf(client.driver(), "streams_failed"), 0);
}

}  // namespace
}  // namespace distbench::protocol
