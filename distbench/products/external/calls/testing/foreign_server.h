// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Servers of somebody else, and clients that call them.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_TESTING_FOREIGN_SERVER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_TESTING_FOREIGN_SERVER_H_

#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/external/calls/external_router.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/protocol/testing/driver_testing.h"

namespace distbench::external {

// Methods of a server that ForeignFiles() describes. All take and return
// messages with a text. List streams responses, Upload requests, Talk both.
inline constexpr char kEcho[] = "/demo.Demo/Echo";
inline constexpr char kList[] = "/demo.Demo/List";
inline constexpr char kUpload[] = "/demo.Demo/Upload";
inline constexpr char kTalk[] = "/demo.Demo/Talk";

// The request's type is in a file that is imported by an imported file.
google::protobuf::FileDescriptorSet ForeignFiles();

struct ForeignAnswer {
  std::vector<std::string> responses = {};
  grpc::Status status = {};
  bool waits = false;  // until the call is cancelled
};

using ForeignRespond = std::function<ForeignAnswer(
    const std::string& method, const std::string& request,
    grpc::GenericCallbackServerContext&)>;

// The request as the only response.
ForeignAnswer Echo(const std::string& method, const std::string& request,
                   grpc::GenericCallbackServerContext& context);

// A server of somebody else.
class ForeignServer final : private grpc::CallbackGenericService {
 public:
  explicit ForeignServer(ForeignRespond respond, int port = 0,
                         std::shared_ptr<grpc::ServerCredentials> credentials =
                             grpc::InsecureServerCredentials());
  ~ForeignServer();

  int port() const { return port_; }
  std::string host_port() const { return absl::StrCat("127.0.0.1:", port_); }
  std::string address() const {
    return absl::StrCat(config::kOutsidePrefix, host_port());
  }
  int calls() const { return calls_; }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

  const ForeignRespond respond_;
  int port_ = 0;
  std::atomic<int> calls_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Calls of the method for the only RPC, with a JSON request.
ExternalCalls CallsOf(const std::string& method,
                      const std::string& request = R"({"text": "hello"})");

// Drivers for the RPCs of the test. Workers of the first wait at a queue of
// gRPC, those of the second do not.
using MakeInner = std::unique_ptr<protocol::ProtocolDriver> (*)();
std::unique_ptr<protocol::ProtocolDriver> MakeInnerGrpc();
std::unique_ptr<protocol::ProtocolDriver> MakeInnerLoopback();

std::unique_ptr<protocol::TestClient> ClientOf(
    ExternalCalls calls, const std::vector<protocol::Peer>& peers,
    std::unique_ptr<protocol::ProtocolDriver> inner = MakeInnerGrpc());

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_TESTING_FOREIGN_SERVER_H_
