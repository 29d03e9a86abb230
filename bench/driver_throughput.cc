// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The speed of a protocol driver on its own: a client that keeps RPCs in flight
// and a server that answers them, in two processes, using the driver's
// interface directly, without an engine.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/throughput.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/registry/registry.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/data_plane.pb.h"
#include "proto/traffic_config.pb.h"

namespace {

using distbench::DistributedSystemDescription;
using distbench::config::DriverOptions;
using distbench::protocol::ClientCall;
using distbench::protocol::DriverEnvironment;
using distbench::protocol::ProtocolDriver;
using distbench::protocol::ServerCall;
using distbench::protocol::Transport;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::string HostPortOf(const bench::Options& options) {
  return std::string(absl::StripPrefix(options.target, "ipv4:"));
}

std::string TargetOf(const bench::Options& options) {
  if (!options.external) return options.target;
  return absl::StrCat(distbench::config::kOutsidePrefix, HostPortOf(options));
}

// A test whose clients call a server of the driver grpc as if it were of
// others.
DistributedSystemDescription TestOfOutsideServer(const std::string& address) {
  DistributedSystemDescription test;
  test.add_services()->set_name("client");
  distbench::ServiceSpec& server = *test.add_services();
  server.set_name("server");
  server.mutable_external()->add_addresses(address);
  distbench::RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.add_client("client");
  rpc.set_server("server");
  distbench::ExternalCallSpec& call = *rpc.mutable_external_call();
  call.set_method("/distbench.Traffic/GenericRpc");
  call.set_request_text("");
  google::protobuf::FileDescriptorSet files;
  distbench::GenericRequestResponse::descriptor()->file()->CopyTo(
      files.add_file());
  call.set_descriptors(files.SerializeAsString());
  return test;
}

std::unique_ptr<ProtocolDriver> MakeDriver(const bench::Options& options) {
  DriverOptions driver_options;
  driver_options.driver = options.driver;
  driver_options.client_settings["spin_us"] = int64_t{options.spin_us};
  if (options.driver == "tcp") {
    driver_options.client_settings["connections"] =
        int64_t{options.connections};
    driver_options.client_settings["max_batch"] = int64_t{options.max_batch};
    driver_options.server_settings["max_batch"] = int64_t{options.max_batch};
  }
  DriverEnvironment environment = {.service_address = "127.0.0.1"};
  auto driver =
      distbench::protocol::MakeProtocolDriver(driver_options, environment);
  if (!driver.ok()) Fail(driver.status().ToString());
  if (!options.external || options.server) return *std::move(driver);
  const DistributedSystemDescription test =
      TestOfOutsideServer(HostPortOf(options));
  return distbench::protocol::ExtendDriver(
      *std::move(driver),
      {.test = test, .service = "client", .instance = "client/0"});
}

class Server final : public distbench::protocol::TransportEvents {
 public:
  Server(Transport& transport, const bench::Options& options)
      : transport_(transport), response_bytes_(options.response_bytes) {}

  [[noreturn]] void Run() {
    while (true) transport_.Poll(INT64_MAX, *this);
  }

  void OnRequest(ServerCall* call) override {
    call->reply_bytes = response_bytes_;
    transport_.Reply(call);
  }
  void OnDone(ClientCall*) override {}

 private:
  Transport& transport_;
  const int64_t response_bytes_;
};

class Client final : public distbench::protocol::TransportEvents {
 public:
  Client(Transport& transport, const bench::Options& options)
      : transport_(transport),
        recorder_(options),
        calls_(options.in_flight / options.threads) {
    for (ClientCall& call : calls_) call.request_bytes = options.request_bytes;
  }

  void Run() {
    for (ClientCall& call : calls_) Start(call);
    while (in_flight_ > 0) transport_.Poll(INT64_MAX, *this);
  }

  void OnDone(ClientCall* call) override {
    if (!call->error.empty()) Fail(std::string(call->error));
    recorder_.Record(call->sent_ns, call->done_ns);
    --in_flight_;
    if (!recorder_.finished(call->done_ns)) Start(*call);
  }
  void OnRequest(ServerCall*) override {}

  bench::Recorder& recorder() { return recorder_; }

 private:
  void Start(ClientCall& call) {
    ++in_flight_;
    if (!transport_.Start(&call)) Fail("the send queue is full");
  }

  Transport& transport_;
  bench::Recorder recorder_;
  std::vector<ClientCall> calls_;
  int in_flight_ = 0;
};

void RunServer(const bench::Options& options) {
  const auto driver = MakeDriver(options);
  const auto address = driver->Listen(options.threads);
  if (!address.ok()) Fail(address.status().ToString());
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back(
        [&, i] { Server(driver->transport(i), options).Run(); });
  }
  bench::AnnounceServer(*address);
  for (std::thread& thread : threads) thread.join();
}

void RunClient(const bench::Options& options) {
  if (options.per_second > 0) Fail("this program has no open loop");
  const auto driver = MakeDriver(options);
  const auto address = driver->Listen(options.threads);
  if (!address.ok()) Fail(address.status().ToString());
  const absl::Status connected =
      driver->Connect(distbench::protocol::SingleServers({TargetOf(options)}),
                      absl::Now() + absl::Seconds(10));
  if (!connected.ok()) Fail(connected.ToString());

  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    clients.push_back(std::make_unique<Client>(driver->transport(i), options));
    threads.emplace_back(&Client::Run, clients.back().get());
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 1; i < options.threads; ++i) {
    clients[0]->recorder().Merge(clients[i]->recorder());
  }
  clients[0]->recorder().Print();
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::ParseOptions(
      argc, argv, "A protocol driver without an engine: throughput.");
  options.server ? RunServer(options) : RunClient(options);
}
