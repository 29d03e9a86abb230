// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/testing/foreign_server.h"

#include <google/protobuf/text_format.h>

#include <utility>

#include "absl/time/clock.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

constexpr char kFiles[] = R"pb(
  file {
    name: "demo.proto"
    package: "demo"
    syntax: "proto3"
    dependency: "all.proto"
    service {
      name: "Demo"
      method { name: "Echo" input_type: ".demo.Text" output_type: ".demo.Text" }
      method {
        name: "List"
        input_type: ".demo.Text"
        output_type: ".demo.Text"
        server_streaming: true
      }
      method {
        name: "Upload"
        input_type: ".demo.Text"
        output_type: ".demo.Text"
        client_streaming: true
      }
      method {
        name: "Talk"
        input_type: ".demo.Text"
        output_type: ".demo.Text"
        client_streaming: true
        server_streaming: true
      }
    }
  }
  file {
    name: "all.proto"
    package: "demo"
    syntax: "proto3"
    dependency: "text.proto"
    public_dependency: 0
  }
  file {
    name: "text.proto"
    package: "demo"
    syntax: "proto3"
    message_type {
      name: "Text"
      field { name: "text" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    }
  }
)pb";

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Reads a request and answers it.
class ForeignReactor final : public grpc::ServerGenericBidiReactor {
 public:
  ForeignReactor(const ForeignRespond& respond,
                 grpc::GenericCallbackServerContext& context)
      : respond_(respond), context_(context) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::INTERNAL, "no request"});
    answer_ = respond_(context_.method(), BytesOf(request_), context_);
    if (!answer_.waits) SendNext();
  }
  void OnWriteDone(bool) override { SendNext(); }
  void OnCancel() override {
    if (answer_.waits) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  void SendNext() {
    if (sent_ == answer_.responses.size()) return Finish(answer_.status);
    const grpc::Slice slice(answer_.responses[sent_++]);
    response_ = grpc::ByteBuffer(&slice, 1);
    StartWrite(&response_);
  }

  const ForeignRespond& respond_;
  grpc::GenericCallbackServerContext& context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  ForeignAnswer answer_;
  size_t sent_ = 0;
};

}  // namespace

google::protobuf::FileDescriptorSet ForeignFiles() {
  google::protobuf::FileDescriptorSet files;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kFiles, &files));
  return files;
}

ForeignServer::ForeignServer(
    ForeignRespond respond, int port,
    std::shared_ptr<grpc::ServerCredentials> credentials)
    : respond_(std::move(respond)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), credentials,
                           &port_);
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr);
}

ForeignServer::~ForeignServer() {
  server_->Shutdown(absl::ToChronoTime(absl::Now()));
}

grpc::ServerGenericBidiReactor* ForeignServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  ++calls_;
  return new ForeignReactor(respond_, *context);
}

ForeignAnswer Echo(const std::string& /*method*/, const std::string& request,
                   grpc::GenericCallbackServerContext& /*context*/) {
  return {.responses = {request}};
}

ExternalCalls CallsOf(const std::string& method, const std::string& request) {
  ExternalCalls calls;
  calls.calls[0] = {.method = method,
                    .request = request,
                    .is_json = true,
                    .metadata = {},
                    .rows = {},
                    .descriptors = ForeignFiles().SerializeAsString(),
                    .servers = {}};
  return calls;
}

std::unique_ptr<protocol::ProtocolDriver> MakeInnerGrpc() {
  return protocol::MakeGrpcDriver({}, {.service_address = "127.0.0.1"}).value();
}

std::unique_ptr<protocol::ProtocolDriver> MakeInnerLoopback() {
  return protocol::MakeLoopbackDriver();
}

std::unique_ptr<protocol::TestClient> ClientOf(
    ExternalCalls calls, const std::vector<protocol::Peer>& peers,
    std::unique_ptr<protocol::ProtocolDriver> inner) {
  return std::make_unique<protocol::TestClient>(
      MakeExternalRouter(std::move(inner), std::move(calls)), peers);
}

}  // namespace distbench::external
