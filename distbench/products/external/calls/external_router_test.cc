// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_router.h"

#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/listen_address.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/external/calls/external_channel.h"
#include "distbench/products/external/calls/external_peer.h"
#include "distbench/products/external/calls/testing/foreign_server.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/streams.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "distbench/protocol/testing/streaming_conformance.h"
#include "distbench/security/testing/testing_certificates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/reflection.pb.h"

namespace distbench::external {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using google::protobuf::FileDescriptorSet;

constexpr char kReflection[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// Returns the error of connecting.
std::string ConnectProblem(ExternalCalls calls,
                           const std::vector<protocol::Peer>& peers,
                           absl::Duration patience = absl::Seconds(20)) {
  const auto driver = MakeExternalRouter(MakeInnerGrpc(), std::move(calls));
  EXPECT_TRUE(driver->Listen(1).ok());
  return base::Message(driver->Connect(peers, absl::Now() + patience));
}

std::string ConnectProblem(ExternalCalls calls,
                           const std::vector<std::string>& addresses,
                           absl::Duration patience = absl::Seconds(20)) {
  return ConnectProblem(std::move(calls), protocol::SingleServers(addresses),
                        patience);
}

std::map<std::string, int64_t> CountersOf(
    const protocol::ProtocolDriver& driver) {
  std::map<std::string, int64_t> counters;
  for (const protocol::DriverCounter& counter : driver.Counters()) {
    counters[counter.name] = counter.value;
  }
  return counters;
}

// With either kind of worker: one that waits at the queue of the calls, and one
// that waits elsewhere, so that a thread waits for them.
class ExternalCallsTest : public testing::TestWithParam<MakeInner> {};

INSTANTIATE_TEST_SUITE_P(EachInner, ExternalCallsTest,
                         testing::Values(MakeInnerGrpc, MakeInnerLoopback));

// Returns how many threads of this process wait for external calls.
int64_t PollingThreads() {
  int64_t count = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name =
        base::ReadFile(thread.path().string() + "/comm").value_or("");
    if (name == "external_calls\n") ++count;
  }
  return count;
}

// Handing each end to the worker would cost a third of the rate.
TEST(ExternalRouterTest, AWorkerThatWaitsAtAQueueOfGrpcNeedsNoThread) {
  ForeignServer server(Echo);
  for (const auto& [make_inner, threads] :
       {std::pair<MakeInner, int>(MakeInnerGrpc, 0), {MakeInnerLoopback, 1}}) {
    const auto client =
        ClientOf(CallsOf(kEcho), protocol::SingleServers({server.address()}),
                 make_inner());
    protocol::ClientCall call;
    EXPECT_EQ(client->Call(call), "");
    EXPECT_EQ(PollingThreads(), threads);
  }
  EXPECT_EQ(PollingThreads(), 0);
}

TEST_P(ExternalCallsTest, CallsAUnaryMethod) {
  ForeignServer server([](const std::string& method, const std::string& request,
                          grpc::GenericCallbackServerContext& context) {
    EXPECT_EQ(method, kEcho);
    EXPECT_EQ(request, "\n\x05hello");
    EXPECT_EQ(context.client_metadata().count("x-key"), 1);
    return ForeignAnswer{.responses = {std::string(100, 'x')}};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].metadata = {{"x-key", "v"}};
  const auto client = ClientOf(
      calls, protocol::SingleServers({server.address()}), GetParam()());
  for (int i = 0; i < 3; ++i) {
    protocol::ClientCall call;
    const int64_t before_ns = base::RealClock().MonotonicNs();
    EXPECT_EQ(client->Call(call), "");
    EXPECT_EQ(call.sent_bytes, 7);
    EXPECT_EQ(call.received_bytes, 100);
    EXPECT_EQ(call.responding_instance, 0);
    EXPECT_GE(call.sent_ns, before_ns);
    EXPECT_GT(call.done_ns, call.sent_ns);
    EXPECT_LE(call.done_ns, base::RealClock().MonotonicNs());
  }
  client->Shutdown();
}

TEST_P(ExternalCallsTest, AddsUpTheResponsesOfAStream) {
  ForeignServer server([](const std::string&, const std::string& request,
                          grpc::GenericCallbackServerContext&) {
    return request.empty()
               ? ForeignAnswer{}
               : ForeignAnswer{.responses = {"a", "bb", "", "cccc"}};
  });
  const auto client =
      ClientOf(CallsOf(kList, R"({"text": "{{choice:x}}"})"),
               protocol::SingleServers({server.address()}), GetParam()());
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.received_bytes, 7);
  const auto empty =
      ClientOf(CallsOf(kList, "{}"),
               protocol::SingleServers({server.address()}), GetParam()());
  EXPECT_EQ(empty->Call(call), "");
  EXPECT_EQ(call.received_bytes, 0);
}

TEST_P(ExternalCallsTest, NamesTheStatus) {
  ForeignServer server([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{
        .status = {grpc::StatusCode::RESOURCE_EXHAUSTED, "full"}};
  });
  for (const char* method : {kEcho, kList}) {
    const auto client =
        ClientOf(CallsOf(method), protocol::SingleServers({server.address()}),
                 GetParam()());
    protocol::ClientCall call;
    EXPECT_EQ(client->Call(call), "RESOURCE_EXHAUSTED: full");
    EXPECT_EQ(call.responding_instance, protocol::kNoInstance);
  }
}

TEST_P(ExternalCallsTest, AUnaryCallWithoutResponseHasFailed) {
  ForeignServer server(
      [](const std::string&, const std::string&,
         grpc::GenericCallbackServerContext&) { return ForeignAnswer{}; });
  const auto client =
      ClientOf(CallsOf(kEcho), protocol::SingleServers({server.address()}),
               GetParam()());
  protocol::ClientCall call;
  EXPECT_THAT(client->Call(call), StartsWith("INTERNAL: "));
}

TEST_P(ExternalCallsTest, EndsCallsAtTheirDeadlines) {
  ForeignServer server([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{.waits = true};
  });
  for (const char* method : {kEcho, kList}) {
    const auto client =
        ClientOf(CallsOf(method), protocol::SingleServers({server.address()}),
                 GetParam()());
    protocol::ClientCall call;
    call.deadline_ns = base::RealClock().MonotonicNs() + 20'000'000;
    EXPECT_THAT(client->Call(call), StartsWith("DEADLINE_EXCEEDED"));
  }
}

// In both ways to end them: at the user's wish and when the driver ends.
TEST_P(ExternalCallsTest, CancelsWhatIsInFlight) {
  ForeignServer server([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{.waits = true};
  });
  const auto client =
      ClientOf(CallsOf(kEcho), protocol::SingleServers({server.address()}),
               GetParam()());
  protocol::ClientCall calls[2];
  ASSERT_TRUE(client->transport().Start(&calls[0]));
  client->transport().CancelCalls();
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(calls[0]); }));
  EXPECT_THAT(client->events().error(calls[0]), StartsWith("CANCELLED"));
  ASSERT_TRUE(client->transport().Start(&calls[1]));
  client->Shutdown();
  ASSERT_TRUE(client->events().Finished(calls[1]));
  // A driver that is destroyed drops its calls.
  const auto dropped =
      ClientOf(CallsOf(kEcho), protocol::SingleServers({server.address()}),
               GetParam()());
  protocol::ClientCall call;
  ASSERT_TRUE(dropped->transport().Start(&call));
}

TEST_P(ExternalCallsTest, RequestsThatCannotBeMadeFail) {
  ForeignServer server(Echo);
  ExternalCalls calls = CallsOf(kEcho, R"({"{{choice:text}}": {{row:v}}})");
  calls.calls[0].rows = {{"v"}, {"\"a\""}, {"[]"}};
  const auto client = ClientOf(
      calls, protocol::SingleServers({server.address()}), GetParam()());
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_THAT(client->Call(call), StartsWith("INVALID_ARGUMENT: request 1: "));
  EXPECT_EQ(client->Call(call), "");
  protocol::ClientCall unknown{.rpc_index = 5};
  EXPECT_EQ(client->Call(unknown),
            "INVALID_ARGUMENT: RPC 5 has no external call");
}

// The engine uses calls again, also those to servers of the test.
TEST(ExternalRouterTest, ACallHasNoTimesOfAnotherServer) {
  ForeignServer server(Echo);
  const auto client =
      ClientOf(CallsOf(kEcho), protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  call.server_queue_ns = 5;
  call.server_handler_ns = 7;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.server_queue_ns, protocol::kNotReported);
  EXPECT_EQ(call.server_handler_ns, protocol::kNotReported);
}

// With a certificate for this name, such as "DNS:shop.example".
std::shared_ptr<grpc::ServerCredentials> CredentialsFor(
    const security::TestAuthority& authority, const std::string& name) {
  const security::TlsFiles files = authority.Issue(
      "server", {.common_name = "shop", .alternative_names = {name}});
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back(
      {base::ReadFile(files.key).value(), base::ReadFile(files.cert).value()});
  return grpc::SslServerCredentials(options);
}

TEST(ExternalRouterTest, UsesTlsWithTheNameInTheCertificate) {
  const security::TestAuthority authority("ca");
  ForeignServer server(Echo, 0, CredentialsFor(authority, "DNS:shop.example"));
  ExternalCalls calls = CallsOf(kEcho);
  ExternalServer& facts = calls.servers[server.host_port()];
  facts = {.uses_tls = true,
           .ca_certificates = base::ReadFile(authority.ca_file()).value(),
           .server_name = "shop.example"};
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  facts.server_name = "other.example";
  EXPECT_THAT(ConnectProblem(calls, {server.address()}, absl::Seconds(1)),
              HasSubstr("has the server's name"));
}

// A server that wants a certificate of the authority from its clients.
std::shared_ptr<grpc::ServerCredentials> MutualCredentials(
    const security::TestAuthority& authority) {
  const security::TlsFiles files = authority.IssueForLocalhost("server");
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = base::ReadFile(authority.ca_file()).value();
  options.pem_key_cert_pairs.push_back(
      {base::ReadFile(files.key).value(), base::ReadFile(files.cert).value()});
  return grpc::SslServerCredentials(options);
}

TEST(ExternalRouterTest, ShowsItsCertificate) {
  const security::TestAuthority authority("ca");
  const security::TestAuthority stranger("other");
  ForeignServer server(Echo, 0, MutualCredentials(authority));
  ExternalCalls calls = CallsOf(kEcho);
  ExternalServer& facts = calls.servers[server.host_port()];
  const auto problem_with = [&](const security::TestAuthority* of_client,
                                bool skips_verification) {
    facts = {.uses_tls = true,
             .skips_verification = skips_verification,
             .ca_certificates = base::ReadFile(authority.ca_file()).value()};
    if (of_client != nullptr) {
      const security::TlsFiles files = of_client->IssueForLocalhost("client");
      facts.client_certificates = base::ReadFile(files.cert).value();
      facts.client_key = base::ReadFile(files.key).value();
    }
    // Some servers refuse a client only after it has connected.
    if (std::string problem =
            ConnectProblem(calls, {server.address()}, absl::Seconds(1));
        !problem.empty()) {
      return problem;
    }
    const auto client =
        ClientOf(calls, protocol::SingleServers({server.address()}));
    protocol::ClientCall call;
    call.deadline_ns = base::RealClock().MonotonicNs() + 1'000'000'000;
    return client->Call(call);
  };
  for (const bool skips_verification : {false, true}) {
    EXPECT_EQ(problem_with(&authority, skips_verification), "");
    EXPECT_NE(problem_with(nullptr, skips_verification), "");
    EXPECT_NE(problem_with(&stranger, skips_verification), "");
  }
}

TEST(ExternalRouterTest, TakesAnyCertificateIfToldTo) {
  const security::TestAuthority authority("ca");
  ForeignServer server(Echo, 0, CredentialsFor(authority, "DNS:shop.example"));
  ExternalCalls calls = CallsOf(kEcho);
  ExternalServer& facts = calls.servers[server.host_port()];
  facts = {.uses_tls = true};
  EXPECT_NE(ConnectProblem(calls, {server.address()}, absl::Seconds(1)), "");
  facts.skips_verification = true;
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
}

TEST(ExternalRouterTest, SaysWhoItIs) {
  std::string agent;
  ForeignServer server([&](const std::string&, const std::string& request,
                           grpc::GenericCallbackServerContext& context) {
    const auto found = context.client_metadata().find("user-agent");
    agent = std::string(found->second.data(), found->second.size());
    return ForeignAnswer{.responses = {request}};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.servers[server.host_port()].user_agent = "tester/1";
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_THAT(agent, StartsWith("tester/1 grpc-c/"));
}

TEST(ExternalRouterTest, UsesItsConnectionsInTurn) {
  absl::Mutex mutex;
  std::map<std::string, int> peers;
  ForeignServer server([&](const std::string&, const std::string& request,
                           grpc::GenericCallbackServerContext& context) {
    const absl::MutexLock lock(&mutex);
    ++peers[context.peer()];
    return ForeignAnswer{.responses = {request}};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.servers[server.host_port()].connections = 3;
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  for (int i = 0; i < 30; ++i) EXPECT_EQ(client->Call(call), "");
  const absl::MutexLock lock(&mutex);
  ASSERT_EQ(peers.size(), 3);
  for (const auto& [peer, count] : peers) EXPECT_EQ(count, 10) << peer;
}

TEST(ExternalPeerTest, TheConnectionWithTheFewestInFlightIsNext) {
  std::vector<protocol::Channel> channels;
  const protocol::GrpcLibrary library;
  const ForeignServer server(Echo);
  const protocol::Peer peer = {.addresses = {server.address()}};
  for (int i = 0; i < 3; ++i) {
    channels.push_back(
        MakeExternalChannel(peer, {}, ChannelUse::kTraffic).value());
  }
  ExternalPeer pool(std::move(channels), {}, {.uses_least_in_flight = true});
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 2);
  pool.GiveBack(1);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 2);
}

// A call that does not wait fails at once while the server is away.
TEST(ExternalRouterTest, WaitsForTheServerIfToldTo) {
  auto server = std::make_unique<ForeignServer>(Echo);
  const int port = server->port();
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[1] = calls.calls[0];
  calls.calls[1].waits_for_ready = true;
  const auto client =
      ClientOf(calls, protocol::SingleServers({server->address()}));
  server.reset();
  protocol::ClientCall impatient;
  EXPECT_THAT(client->Call(impatient), StartsWith("UNAVAILABLE"));
  protocol::ClientCall patient{.rpc_index = 1};
  ASSERT_TRUE(client->transport().Start(&patient));
  server = std::make_unique<ForeignServer>(Echo, port);
  ASSERT_TRUE(client->events().PollUntil(
      [&] { return client->events().Finished(patient); }));
  EXPECT_EQ(client->events().error(patient), "");
}

TEST(ExternalRouterTest, CompressesAndLimitsWhatUnaryCallsExchange) {
  ForeignServer server([](const std::string&, const std::string& request,
                          grpc::GenericCallbackServerContext& context) {
    EXPECT_EQ(request.size(), 5003);
    context.set_compression_algorithm(GRPC_COMPRESS_DEFLATE);
    return ForeignAnswer{.responses = {request}};
  });
  ExternalCalls calls =
      CallsOf(kEcho, absl::StrCat("{\"text\": \"{{filler}}\"}"));
  calls.calls[0].uses_gzip = true;
  for (const int64_t limit : {5003, 5002}) {
    calls.servers[server.host_port()].max_response_bytes = limit;
    const auto client =
        ClientOf(calls, protocol::SingleServers({server.address()}));
    protocol::ClientCall call{.request_bytes = 5003};
    const std::string error = client->Call(call);
    EXPECT_EQ(call.sent_bytes, 5003);
    client->Shutdown();
    std::map<std::string, int64_t> counters = CountersOf(client->driver());
    EXPECT_EQ(counters["gzip_request_bytes_before"], 5003);
    EXPECT_LT(counters["gzip_request_bytes_after"], 100);
    if (limit == 5003) {
      EXPECT_EQ(error, "");
      EXPECT_EQ(call.received_bytes, 5003);
      EXPECT_EQ(counters["gzip_response_bytes_before"], 5003);
    } else {
      EXPECT_THAT(error, StartsWith("RESOURCE_EXHAUSTED: a response has more"));
      EXPECT_EQ(counters["responses_above_max_response"], 1);
    }
  }
}

// What is not compressed, gRPC refuses itself.
TEST(ExternalRouterTest, SaysWhatGrpcRefuses) {
  ForeignServer server([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{.responses = {std::string(101, 'x')}};
  });
  for (const char* method : {kEcho, kList}) {
    ExternalCalls calls = CallsOf(method);
    calls.servers[server.host_port()].max_response_bytes = 100;
    const auto client =
        ClientOf(calls, protocol::SingleServers({server.address()}));
    protocol::ClientCall call;
    EXPECT_THAT(
        client->Call(call),
        StartsWith("RESOURCE_EXHAUSTED: a response has more than 100 "));
    client->Shutdown();
    EXPECT_EQ(CountersOf(client->driver())["responses_above_max_response"], 1);
  }
}

TEST(ExternalRouterTest, BinaryRequestsNeedNoReflection) {
  ForeignServer server(Echo);
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  calls.calls[0].binary_request = "anything";
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.received_bytes, 8);
}

// The address of the server by the name "localhost".
std::string LocalhostPortOf(const ForeignServer& server) {
  return absl::StrCat("localhost:", server.port());
}

std::vector<protocol::Peer> InTurn(const std::vector<std::string>& host_ports) {
  protocol::Peer peer;
  peer.policy = config::kRoundRobinPolicy;
  for (const std::string& host_port : host_ports) {
    peer.addresses.push_back(absl::StrCat(config::kOutsidePrefix, host_port));
  }
  return {peer};
}

// Each certificate has the name of its server's own address. A channel to both
// expects the first one's name, so calls would reach only the first.
TEST(ExternalRouterTest, ServersOfOnePeerNeedTheSameName) {
  const security::TestAuthority authority("ca");
  ForeignServer first(Echo, 0, CredentialsFor(authority, "IP:127.0.0.1"));
  ForeignServer second(Echo, 0, CredentialsFor(authority, "DNS:localhost"));
  ExternalCalls calls = CallsOf(kEcho);
  for (const std::string& address :
       {first.host_port(), LocalhostPortOf(second)}) {
    ExternalServer& facts = calls.servers[address];
    facts.uses_tls = true;
    facts.ca_certificates = base::ReadFile(authority.ca_file()).value();
  }
  EXPECT_THAT(
      ConnectProblem(calls,
                     InTurn({first.host_port(), LocalhostPortOf(second)}),
                     absl::Seconds(1)),
      AllOf(HasSubstr(absl::StrCat(":", second.port())),
            Not(HasSubstr(first.host_port())), HasSubstr("set server_name")));
}

// On some hosts "localhost" is an IPv6 address first, where nobody listens.
TEST(ExternalRouterTest, AServerThatIsNotThereIsSaidBeforeTheTestsTimeIsUp) {
  const absl::StatusOr<int> port = base::FindFreePort("127.0.0.1");
  ASSERT_TRUE(port.ok()) << port.status();
  const std::string address =
      absl::StrCat(config::kOutsidePrefix, "127.0.0.1:", *port);
  EXPECT_THAT(ConnectProblem(CallsOf(kEcho), {address}, absl::Hours(1)),
              HasSubstr(absl::StrCat("127.0.0.1:", *port,
                                     " (refused or unreachable)")));
}

TEST(ExternalRouterTest, WhatConnectsGetsCalls) {
  ForeignServer first(Echo);
  ForeignServer second(Echo);
  const std::vector<protocol::Peer> peers =
      InTurn({first.host_port(), LocalhostPortOf(second)});
  const ExternalCalls calls = CallsOf(kEcho);
  const std::string problem = ConnectProblem(calls, peers, absl::Seconds(1));
  if (!problem.empty()) {
    EXPECT_THAT(problem, HasSubstr(absl::StrCat(":", second.port())));
    return;
  }
  const auto client = ClientOf(calls, peers);
  const absl::Time patience = absl::Now() + absl::Seconds(20);
  protocol::ClientCall call;
  while (first.calls() == 0 || second.calls() == 0) {
    ASSERT_LT(absl::Now(), patience);
    ASSERT_EQ(client->Call(call), "");
  }
}

TEST(ExternalRouterTest, UsesSeveralServersInTurn) {
  ForeignServer first(Echo);
  ForeignServer second(Echo);
  const auto client = ClientOf(
      CallsOf(kEcho), {{.addresses = {first.address(), second.address()},
                        .policy = config::kRoundRobinPolicy}});
  // Both are connected once both have been called.
  protocol::ClientCall call;
  while (first.calls() == 0 || second.calls() == 0) {
    ASSERT_EQ(client->Call(call), "");
  }
  const int before = first.calls();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(client->Call(call), "");
  EXPECT_EQ(first.calls() - before, 5);
}

// A name, as the engine has it: one address, and no policy.
constexpr char kName[] = "dns:///cache.example.com:4711";

std::vector<protocol::Peer> NamePeer() {
  return protocol::SingleServers({absl::StrCat(config::kOutsidePrefix, kName)});
}

TEST(ExternalRouterTest, CallsAllServersThatANameStandsFor) {
  std::string authority;
  const auto respond = [&](const std::string& method,
                           const std::string& request,
                           grpc::GenericCallbackServerContext& context) {
    authority = context.host();
    return Echo(method, request, context);
  };
  ForeignServer first(respond);
  ForeignServer second(respond);
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].servers = {kName};
  calls.servers[kName].policy = config::kRoundRobinPolicy;
  calls.servers[kName].pinned = {{first.host_port(), 0},
                                 {second.host_port(), 0}};
  const auto client = ClientOf(calls, NamePeer());
  protocol::ClientCall call;
  while (first.calls() == 0 || second.calls() == 0) {
    ASSERT_EQ(client->Call(call), "");
  }
  const int before = first.calls();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(client->Call(call), "");
  EXPECT_EQ(first.calls() - before, 5);
  client->Shutdown();
  EXPECT_EQ(authority, "cache.example.com:4711");
}

TEST(ExternalRouterTest, ANameCanBeItsFirstServerAlone) {
  ForeignServer one(Echo);
  ForeignServer other(Echo);
  ExternalCalls calls = CallsOf(kEcho);
  calls.servers[kName].policy = config::kPickFirstPolicy;
  calls.servers[kName].pinned = {{one.host_port(), 0}, {other.host_port(), 0}};
  const bool is_one_first = one.host_port() < other.host_port();
  const auto client = ClientOf(calls, NamePeer());
  protocol::ClientCall call;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(client->Call(call), "");
  EXPECT_EQ((is_one_first ? one : other).calls(), 10);
}

TEST(ExternalRouterTest, ServersOfANameHaveItsCertificate) {
  const security::TestAuthority authority("ca");
  ForeignServer right(Echo, 0,
                      CredentialsFor(authority, "DNS:cache.example.com"));
  ForeignServer wrong(Echo, 0, CredentialsFor(authority, "IP:127.0.0.1"));
  ExternalCalls calls = CallsOf(kEcho);
  ExternalServer& name = calls.servers[kName];
  name.uses_tls = true;
  name.ca_certificates = base::ReadFile(authority.ca_file()).value();
  name.pinned = {{right.host_port(), 0}};
  const auto client = ClientOf(calls, NamePeer());
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  name.pinned[wrong.host_port()] = 0;
  EXPECT_THAT(
      ConnectProblem(calls, NamePeer(), absl::Seconds(1)),
      AllOf(HasSubstr(wrong.host_port()), Not(HasSubstr(right.host_port()))));
}

TEST(ExternalRouterTest, ANameThatNobodyLookedUpIsNotDialled) {
  EXPECT_THAT(ConnectProblem(CallsOf(kEcho), NamePeer()),
              HasSubstr("was not looked up when the test began"));
}

TEST(ExternalRouterTest, FindsAServerThatComesBack) {
  auto server = std::make_unique<ForeignServer>(Echo);
  const int port = server->port();
  const auto client =
      ClientOf(CallsOf(kEcho), protocol::SingleServers({server->address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  server.reset();
  EXPECT_THAT(client->Call(call), StartsWith("UNAVAILABLE"));
  server = std::make_unique<ForeignServer>(Echo, port);
  const absl::Time patience = absl::Now() + absl::Seconds(20);
  while (!client->Call(call).empty()) ASSERT_LT(absl::Now(), patience);
}

TEST(ExternalRouterTest, NamesWhoCannotBeReached) {
  int port = 0;
  { port = ForeignServer(Echo).port(); }
  EXPECT_THAT(ConnectProblem(CallsOf(kEcho),
                             {absl::StrCat("external:127.0.0.1:", port)},
                             absl::Milliseconds(300)),
              HasSubstr(absl::StrCat("127.0.0.1:", port)));
  EXPECT_THAT(ConnectProblem(CallsOf(kEcho), {"external:localhost"}),
              HasSubstr("write HOST:PORT"));
}

// What a server answers to a question about these files.
ForeignAnswer Describe(const FileDescriptorSet& files,
                       const std::string& method, const std::string& request) {
  if (method != kReflection) {
    return {.status = {grpc::StatusCode::UNIMPLEMENTED, ""}};
  }
  ReflectionRequest asked;
  EXPECT_TRUE(asked.ParseFromString(request));
  ReflectionResponse response;
  if (asked.has_list_services()) {
    response.mutable_list_services_response()->add_service()->set_name(
        "demo.Demo");
  }
  for (const auto& file : files.file()) {
    if (asked.file_by_filename() != file.name() &&
        (asked.file_containing_symbol() != "demo.Demo" ||
         file.service().empty())) {
      continue;
    }
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(
        file.SerializeAsString());
  }
  if (response.message_response_case() == 0) {
    response.mutable_error_response()->set_error_message("not found");
  }
  return {.responses = {response.SerializeAsString()}};
}

ForeignAnswer Reflect(const std::string& method, const std::string& request,
                      grpc::GenericCallbackServerContext& context) {
  if (method == kEcho) return Echo(method, request, context);
  return Describe(ForeignFiles(), method, request);
}

TEST(ExternalRouterTest, AsksTheServerForDescriptors) {
  ForeignServer server(Reflect);
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  const auto client =
      ClientOf(calls, protocol::SingleServers({server.address()}));
  protocol::ClientCall call;
  EXPECT_EQ(client->Call(call), "");
  EXPECT_EQ(call.received_bytes, 7);
  calls.calls[0].method = "/demo.Demo/Ecko";
  EXPECT_THAT(ConnectProblem(calls, {server.address()}),
              HasSubstr("did you mean \"Echo\"?"));
  calls.calls[0].method = "/demo.Dmo/Echo";
  EXPECT_THAT(ConnectProblem(calls, {server.address()}),
              AllOf(HasSubstr(server.host_port()),
                    HasSubstr("did you mean \"demo.Demo\"?")));
}

// The files, in which the text has this number.
FileDescriptorSet FilesWithText(int number) {
  FileDescriptorSet files = ForeignFiles();
  for (auto& file : *files.mutable_file()) {
    for (auto& type : *file.mutable_message_type()) {
      type.mutable_field(0)->set_number(number);
    }
  }
  return files;
}

// Two services have the method, with different types.
TEST(ExternalRouterTest, AsksOnlyTheServersOfTheCall) {
  const auto respond_with_text = [](int number) {
    return [number](const std::string& method, const std::string& request,
                    grpc::GenericCallbackServerContext&) {
      if (method != kEcho) {
        return Describe(FilesWithText(number), method, request);
      }
      // A tag is the number and the kind, which is 2.
      EXPECT_EQ(request[0], static_cast<char>(number << 3 | 2));
      return ForeignAnswer{.responses = {request}};
    };
  };
  ForeignServer first(respond_with_text(1));
  ForeignServer second(respond_with_text(2));
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  calls.calls[1] = calls.calls[0];
  calls.calls[0].servers = {first.host_port()};
  calls.calls[1].servers = {second.host_port()};
  const auto client = ClientOf(
      calls, protocol::SingleServers({first.address(), second.address()}));
  for (const int i : {0, 1}) {
    protocol::ClientCall call{.rpc_index = i};
    call.peer = i;
    EXPECT_EQ(client->Call(call), "");
  }
}

TEST(ExternalRouterTest, NamesTheServerOfTheCallThatHasNoReflection) {
  ForeignServer silent([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{.status = {grpc::StatusCode::UNIMPLEMENTED, ""}};
  });
  ForeignServer other(Reflect);
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  calls.calls[0].servers = {silent.host_port()};
  EXPECT_THAT(ConnectProblem(calls, {silent.address(), other.address()}),
              HasSubstr(absl::StrCat(silent.host_port(),
                                     " does not answer gRPC's reflection")));
}

// Each file imports another one, and all are large.
TEST(ExternalRouterTest, AServerCannotDescribeItselfWithoutEnd) {
  ForeignServer server([](const std::string&, const std::string& request,
                          grpc::GenericCallbackServerContext&) {
    ReflectionRequest asked;
    EXPECT_TRUE(asked.ParseFromString(request));
    google::protobuf::FileDescriptorProto file;
    file.set_name(asked.file_by_filename());
    file.add_dependency(file.name() + "x");
    file.mutable_source_code_info()->add_location()->set_leading_comments(
        std::string(1 << 20, ' '));
    ReflectionResponse response;
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(
        file.SerializeAsString());
    return ForeignAnswer{.responses = {response.SerializeAsString()}};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  EXPECT_THAT(ConnectProblem(calls, {server.address()}),
              HasSubstr("describes itself by more than"));
}

TEST(ExternalRouterTest, SaysThatAServerHasNoReflection) {
  ForeignServer server([](const std::string&, const std::string&,
                          grpc::GenericCallbackServerContext&) {
    return ForeignAnswer{.status = {grpc::StatusCode::UNIMPLEMENTED, ""}};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  EXPECT_THAT(ConnectProblem(calls, {server.address()}),
              AllOf(HasSubstr("does not answer gRPC's reflection"),
                    HasSubstr("--descriptor_set_out")));
}

TEST(ExternalRouterTest, AbortingEndsTheQuestionsToTheServer) {
  absl::Notification asked;
  ForeignServer server([&](const std::string&, const std::string&,
                           grpc::GenericCallbackServerContext&) {
    asked.Notify();
    return ForeignAnswer{.waits = true};
  });
  ExternalCalls calls = CallsOf(kEcho);
  calls.calls[0].descriptors = "";
  const auto driver = MakeExternalRouter(MakeInnerGrpc(), std::move(calls));
  ASSERT_TRUE(driver->Listen(1).ok());
  std::thread aborting([&] {
    asked.WaitForNotification();
    driver->AbortConnect();
  });
  EXPECT_EQ(
      base::Message(driver->Connect(protocol::SingleServers({server.address()}),
                                    absl::Now() + absl::Seconds(20))),
      "connecting was aborted");
  aborting.join();
}

TEST(ExternalRouterTest, NumbersRequestsAcrossWorkersAndInstances) {
  absl::Mutex mutex;
  std::vector<std::string> requests;
  ForeignServer server([&](const std::string&, const std::string& request,
                           grpc::GenericCallbackServerContext&) {
    const absl::MutexLock lock(&mutex);
    requests.push_back(request.substr(2));
    return ForeignAnswer{.responses = {""}};
  });
  ExternalCalls calls =
      CallsOf(kEcho, R"({"text": "{{instance}}-{{counter}}-{{row:v}}"})");
  calls.calls[0].rows = {{"v"}, {"x"}, {"y"}, {"z"}};
  calls.instance_name = "c/2";
  calls.instance_number = 2;
  const auto driver = MakeExternalRouter(MakeInnerGrpc(), calls);
  ASSERT_TRUE(driver->Listen(2).ok());
  ASSERT_TRUE(driver
                  ->Connect(protocol::SingleServers({server.address()}),
                            absl::Now() + absl::Seconds(20))
                  .ok());
  for (int i = 0; i < 3; ++i) {
    protocol::TestEvents events(driver->transport(i % 2));
    protocol::ClientCall call;
    EXPECT_EQ(events.Call(call), "");
  }
  const absl::MutexLock lock(&mutex);
  EXPECT_THAT(requests, ElementsAre("c/2-0-z", "c/2-1-x", "c/2-2-y"));
}

// Calls of the inner driver and external ones, with peers in mixed order.
TEST_P(ExternalCallsTest, RoutesCallsByTheirPeers) {
  ForeignServer server(Echo);
  protocol::TestServer a(GetParam());
  protocol::TestServer b(GetParam(), [](protocol::Transport& transport,
                                        protocol::ServerCall* call) {
    call->reply_error = "b refuses";
    transport.Reply(call);
  });
  const auto client = ClientOf(
      CallsOf(kEcho),
      protocol::SingleServers({a.address(), server.address(), b.address()}),
      GetParam()());
  // Separate calls, because events are told apart by their calls.
  std::vector<protocol::ClientCall> calls(300);
  for (size_t i = 0; i < calls.size(); i += 3) {
    for (int peer = 0; peer < 3; ++peer) {
      calls[i + peer].peer = peer;
      ASSERT_TRUE(client->transport().Start(&calls[i + peer]));
    }
    ASSERT_TRUE(client->events().PollUntil(
        [&] { return client->events().finished_count() == i + 3; }));
    EXPECT_EQ(client->events().error(calls[i]), "");
    EXPECT_EQ(client->events().error(calls[i + 1]), "");
    EXPECT_EQ(client->events().error(calls[i + 2]), "b refuses");
    for (int peer = 0; peer < 3; ++peer) {
      EXPECT_EQ(calls[i + peer].peer, peer);
    }
    EXPECT_EQ(calls[i + 1].received_bytes, 7);
  }
  client->Shutdown();
  EXPECT_EQ(CountersOf(client->driver())["held_back_by_rate"], 0);
}

// A driver that has read settings back.
class DriverWithReadings final : public protocol::ProtocolDriver {
 public:
  absl::StatusOr<std::string> Listen(int) override { return ""; }
  protocol::Transport& transport(int) override { std::abort(); }
  absl::Status Connect(const std::vector<protocol::Peer>&,
                       absl::Time) override {
    return absl::OkStatus();
  }
  void Shutdown() override {}
  std::vector<protocol::ConnectionReadings> NetworkReadings() const override {
    return {{.connection_count = 7}};
  }
};

TEST(ExternalRouterTest, PassesOnWhatWasReadOfTheNetwork) {
  const auto driver =
      MakeExternalRouter(std::make_unique<DriverWithReadings>(), {});
  ASSERT_EQ(driver->NetworkReadings().size(), 1);
  EXPECT_EQ(driver->NetworkReadings()[0].connection_count, 7);
}

TEST_P(ExternalCallsTest, HoldsCallsBackUntilTheirRateLetsThemPass) {
  ForeignServer server(Echo);
  ExternalCalls limits = CallsOf(kEcho);
  limits.servers[server.host_port()].max_rate = 50;
  const auto client = ClientOf(
      limits, protocol::SingleServers({server.address()}), GetParam()());
  protocol::ClientCall calls[6];
  const int64_t begin_ns = base::RealClock().MonotonicNs();
  for (protocol::ClientCall& call : calls) {
    // Poll() returns in time, so that the next attempt succeeds.
    while (!client->transport().Start(&call)) {
      client->transport().Poll(INT64_MAX, client->events());
    }
    ASSERT_TRUE(client->events().PollUntil(
        [&] { return client->events().Finished(call); }));
  }
  // The first passes at once, and each may be 10 ms early.
  EXPECT_GE(base::RealClock().MonotonicNs() - begin_ns, 90'000'000);
  client->Shutdown();
  EXPECT_GE(CountersOf(client->driver())["held_back_by_rate"], 1);
}

}  // namespace

// RPCs of the test that stream, beside external calls.

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
