// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/testing/driver_testing.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/protocol/grpc/grpc_driver.h"

// gRPC resolves names with c-ares, which keeps a copy of "localhost".
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares"; }

namespace distbench::protocol {

config::DriverOptions Mode::Options() const {
  config::DriverOptions options;
  options.client_settings["client_type"] = client_type;
  options.server_settings["server_type"] = server_type;
  options.server_settings["threadpool_type"] = pool_type;
  options.server_settings["threadpool_size"] = pool_size;
  options.server_settings["threadpool_use"] = pool_use;
  return options;
}

std::vector<Mode> AllModes() {
  std::vector<Mode> modes;
  for (const char* client : {"polling", "callback"}) {
    modes.push_back({.client_type = client, .server_type = "inline"});
    for (const char* server : {"polling", "handoff"}) {
      for (const char* pool : {"elastic", "simple", "null"}) {
        modes.push_back(
            {.client_type = client, .server_type = server, .pool_type = pool});
      }
    }
  }
  return modes;
}

std::string ModeName(const testing::TestParamInfo<Mode>& info) {
  const Mode& mode = info.param;
  return absl::StrCat(mode.client_type, "_", mode.server_type,
                      mode.pool_type.empty() ? "" : "_", mode.pool_type);
}

std::unique_ptr<ProtocolDriver> MakeDriver(
    const Mode& mode, const std::vector<bool>& immediate_rpcs) {
  return MakeGrpcDriver(mode.Options(), {.service_address = "127.0.0.1",
                                         .immediate_rpcs = immediate_rpcs})
      .value();
}

PollingThread::PollingThread(Transport& transport)
    : transport_(transport), thread_([this] {
        Events events(transport_, [](Transport&, ServerCall*) {
          ADD_FAILURE() << "a request arrived";
        });
        while (!stopped_) transport_.Poll(kNever, events);
      }) {}

PollingThread::~PollingThread() {
  stopped_ = true;
  transport_.Wake();
  thread_.join();
}

Service::Service(const Mode& mode, Events::Handler handler, int workers)
    : TestServer([mode] { return MakeDriver(mode); }, std::move(handler),
                 workers) {}

Client::Client(const Mode& mode, const std::vector<std::string>& peers)
    : TestClient(MakeDriver(mode), SingleServers(peers)) {}

}  // namespace distbench::protocol
