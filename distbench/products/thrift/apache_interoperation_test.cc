// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Our Thrift against Apache's: its server for our client, its client for our
// server, and its protocol as the oracle of our frames.

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/host_port.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/products/thrift/message.h"
#include "distbench/products/thrift/testing/Traffic.h"
#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/security/nonce.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::thrift {
namespace {

using ::apache::thrift::TApplicationException;
using ::apache::thrift::protocol::TBinaryProtocol;
using ::apache::thrift::protocol::TBinaryProtocolFactory;
using ::apache::thrift::protocol::TMessageType;
using ::apache::thrift::server::TServerEventHandler;
using ::apache::thrift::server::TThreadedServer;
using ::apache::thrift::transport::TFramedTransport;
using ::apache::thrift::transport::TFramedTransportFactory;
using ::apache::thrift::transport::TMemoryBuffer;
using ::apache::thrift::transport::TServerSocket;
using ::apache::thrift::transport::TSocket;
using ::testing::HasSubstr;

constexpr char kNonce[] = "ours";

std::unique_ptr<protocol::ProtocolDriver> MakeDriver() {
  return std::make_unique<ThriftDriver>(
      protocol::ReadTcpSettings({}), protocol::AddressPreference{}, "127.0.0.1",
      protocol::ConnectionSecurity{.test_nonce = kNonce});
}

// Returns a message of this size at least.
std::string MessageOf(int64_t bytes) {
  GenericRequestResponse message;
  message.set_server_instance(5);
  message.set_payload(std::string(bytes, 'P'));
  return message.SerializeAsString();
}

// ---- Apache's server, our client -------------------------------------------

// Answers with what the client asks for; fails for an RPC with index 13.
class Handler final : public thrift::TrafficIf {
 public:
  void Handshake(std::string& answer, const std::string& request) override {
    answer = protocol::AnswerHandshake(kNonce, request).value();
  }
  void GenericRpc(std::string& answer, const std::string& request) override {
    GenericRequestResponse message;
    ASSERT_TRUE(message.ParseFromString(request));
    if (message.rpc_index() == 13) {
      throw TApplicationException(TApplicationException::INTERNAL_ERROR,
                                  "thirteen");
    }
    answer = MessageOf(message.response_payload_size());
  }
};

class ApacheServer final : public TServerEventHandler {
 public:
  ApacheServer()
      : socket_(std::make_shared<TServerSocket>("127.0.0.1", 0)),
        server_(std::make_shared<thrift::TrafficProcessor>(
                    std::make_shared<Handler>()),
                socket_, std::make_shared<TFramedTransportFactory>(),
                std::make_shared<TBinaryProtocolFactory>()) {
    // The server must not own this.
    server_.setServerEventHandler(
        std::shared_ptr<TServerEventHandler>(this, [](auto*) {}));
    thread_ = std::thread([this] { server_.serve(); });
    listens_.WaitForNotification();
  }
  ~ApacheServer() override {
    server_.stop();
    thread_.join();
  }

  std::string address() const {
    return base::JoinHostPort("127.0.0.1", socket_->getPort());
  }

  void preServe() override { listens_.Notify(); }

 private:
  const std::shared_ptr<TServerSocket> socket_;
  TThreadedServer server_;
  absl::Notification listens_;
  std::thread thread_;
};

TEST(ApacheServerTest, AnswersOurCalls) {
  ApacheServer server;
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  for (const int64_t size : {0, 16, 1000, 20'000, 3 << 20}) {
    protocol::ClientCall call{.request_bytes = size, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(call.received_bytes, MessageOf(size).size());
    EXPECT_EQ(call.responding_instance, 5);
  }
}

TEST(ApacheServerTest, HasManyOfOurCallsInFlight) {
  ApacheServer server;
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  std::vector<protocol::ClientCall> calls(100);
  for (protocol::ClientCall& call : calls) {
    call.request_bytes = 300;
    call.response_bytes = 300;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == calls.size(); }));
  for (const protocol::ClientCall& call : calls) {
    EXPECT_EQ(client.events().error(call), "");
  }
}

TEST(ApacheServerTest, MayThrowExceptions) {
  ApacheServer server;
  protocol::TestClient client(MakeDriver(),
                              protocol::SingleServers({server.address()}));
  protocol::ClientCall call{.rpc_index = 13};
  EXPECT_EQ(client.Call(call),
            absl::StrCat("INTERNAL: ", server.address(),
                         " has answered with an exception: thirteen"));
}

// ---- Our server, Apache's client -------------------------------------------

class ApacheClientTest : public testing::Test {
 protected:
  ApacheClientTest() { transport_->open(); }

  const protocol::TestServer server_{MakeDriver};
  const std::shared_ptr<TFramedTransport> transport_ =
      std::make_shared<TFramedTransport>(std::make_shared<TSocket>(
          "127.0.0.1", std::stoi(server_.address().substr(
                           server_.address().rfind(':') + 1))));
  thrift::TrafficClient client_{std::make_shared<TBinaryProtocol>(transport_)};
};

TEST_F(ApacheClientTest, GetsReplies) {
  std::string answer;
  const std::string challenge = security::DrawNonce();
  client_.Handshake(answer, protocol::HandshakeRequestWith(challenge));
  EXPECT_EQ(protocol::ProblemOfAnswer(kNonce, challenge, answer), "");
  for (const int64_t size : {16, 1000, 20'000, 3 << 20}) {
    GenericRequestResponse request;
    request.set_response_payload_size(size);
    request.set_payload(std::string(size, 'P'));
    // Other implementations write fields behind the payload.
    request.set_after_payload32(7);
    client_.GenericRpc(answer, request.SerializeAsString());
    EXPECT_EQ(answer.size(), size);
    GenericRequestResponse response;
    EXPECT_TRUE(response.ParseFromString(answer));
  }
}

TEST_F(ApacheClientTest, GetsExceptions) {
  std::string answer;
  try {
    client_.GenericRpc(answer, "no message of protobuf");
    FAIL() << "a malformed message was answered";
  } catch (const TApplicationException& error) {
    EXPECT_EQ(error.getType(), TApplicationException::PROTOCOL_ERROR);
    EXPECT_THAT(error.what(), HasSubstr("no GenericRequestResponse"));
  }
  client_.GenericRpc(answer, MessageOf(10));
  EXPECT_NE(answer, "");
}

// ---- Frames ----------------------------------------------------------------

// What Apache's protocol writes into a frame.
template <typename Write>
std::string ApacheFrame(const Write& write) {
  const auto memory = std::make_shared<TMemoryBuffer>();
  const auto framed = std::make_shared<TFramedTransport>(memory);
  TBinaryProtocol protocol(framed);
  write(protocol);
  protocol.writeMessageEnd();
  framed->flush();
  return memory->getBufferAsString();
}

TEST(ApacheFrameTest, OursAreTheSame) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{300'000}}) {
    const std::string bytes(size, 'x');
    EXPECT_EQ(ThriftFrame(ThriftType::kCall, kThriftGenericRpc, 77, bytes),
              ApacheFrame([&](TBinaryProtocol& protocol) {
                protocol.writeMessageBegin("GenericRpc", TMessageType::T_CALL,
                                           77);
                thrift::Traffic_GenericRpc_args arguments;
                arguments.request = bytes;
                arguments.write(&protocol);
              }));
    EXPECT_EQ(
        ThriftFrame(ThriftType::kReply, kThriftGenericRpc, 0xfffffff0, bytes),
        ApacheFrame([&](TBinaryProtocol& protocol) {
          protocol.writeMessageBegin("GenericRpc", TMessageType::T_REPLY, -16);
          thrift::Traffic_GenericRpc_result result;
          result.success = bytes;
          result.__isset.success = true;
          result.write(&protocol);
        }));
  }
}

TEST(ApacheFrameTest, ExceptionsAreTheSame) {
  const std::string frame = ApacheFrame([](TBinaryProtocol& protocol) {
    protocol.writeMessageBegin("Nonsense", TMessageType::T_EXCEPTION, 5);
    TApplicationException(TApplicationException::UNKNOWN_METHOD, "unknown")
        .write(&protocol);
  });
  EXPECT_EQ(ThriftExceptionFrame("Nonsense", 5, ThriftFault::kUnknownMethod,
                                 "unknown"),
            frame);
  ThriftDecoder decoder;
  std::string text;
  EXPECT_EQ(decoder.Decode(frame,
                           [&](const ThriftMessage& message) {
                             text =
                                 std::string(ThriftExceptionText(message.body));
                             return protocol::StreamError::kNone;
                           }),
            protocol::StreamError::kNone);
  EXPECT_EQ(text, "unknown");
}

}  // namespace
}  // namespace distbench::thrift
