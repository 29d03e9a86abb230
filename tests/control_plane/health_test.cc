// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that standard tools work with sequencers and nodes: health checking and
// reflection, through their own protocols.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/listen_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

using ::testing::HasSubstr;

constexpr char kHealthCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kReflection[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return std::string(reinterpret_cast<const char*>(slice.begin()),
                     slice.size());
}

// A call with one message each way, with a serialised response or an error.
class RawCall {
 public:
  RawCall(const std::string& address, const std::string& method,
          const std::string& request) {
    grpc::GenericStub stub(
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kGenerous));
    context.set_wait_for_ready(true);
    const auto call = stub.PrepareCall(&context, method, &queue);
    call->StartCall(nullptr);
    Await(queue);
    call->WriteLast(ToBuffer(request), grpc::WriteOptions(), nullptr);
    Await(queue);
    grpc::ByteBuffer buffer;
    call->Read(&buffer, nullptr);
    if (Await(queue)) response = ToString(buffer);
    call->Finish(&status, nullptr);
    Await(queue);
  }

  grpc::Status status;
  std::string response;

 private:
  static bool Await(grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    return ok;
  }
};

// HealthCheckRequest.service and HealthCheckResponse.status both are field 1;
// status 1 is SERVING and 2 is NOT_SERVING.
std::string HealthRequest(const std::string& service) {
  return service.empty()
             ? ""
             : absl::StrCat("\x0a", std::string(1, service.size()), service);
}
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

TEST(HealthTest, ASequencerIsHealthy) {
  Cluster cluster;
  for (const char* service : {"", "distbench.DistBenchTestSequencer"}) {
    const RawCall call(cluster.address(), kHealthCheck, HealthRequest(service));
    EXPECT_TRUE(call.status.ok()) << call.status.error_message();
    EXPECT_EQ(call.response, kServing);
  }
  EXPECT_EQ(RawCall(cluster.address(), kHealthCheck, HealthRequest("other"))
                .status.error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(HealthTest, ASequencerTellsItsServices) {
  Cluster cluster;
  // ServerReflectionRequest.list_services is field 7.
  const RawCall call(cluster.address(), kReflection,
                     std::string("\x3a\x00", 2));
  EXPECT_THAT(call.response, HasSubstr("distbench.DistBenchTestSequencer"));
  EXPECT_THAT(call.response, HasSubstr("grpc.health.v1.Health"));
}

TEST(HealthTest, ANodeIsHealthyWhileItIsRegistered) {
  Cluster cluster;
  node::NodeManagerOptions options;
  options.listen_address = "localhost";
  options.port = base::FindFreePort("localhost").value();
  const std::string address = absl::StrCat("localhost:", options.port);
  cluster.StartNode(options);
  EXPECT_EQ(RawCall(address, kHealthCheck, "").response, kServing);
  cluster.StopSequencer();
  std::string response;
  for (const absl::Time deadline = absl::Now() + kGenerous;
       response != kNotServing && absl::Now() < deadline;) {
    response = RawCall(address, kHealthCheck, "").response;
  }
  EXPECT_EQ(response, kNotServing);
}

}  // namespace
}  // namespace distbench
