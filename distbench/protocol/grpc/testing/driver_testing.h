// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Helpers for tests of the gRPC driver: its threading models, and services and
// clients that use it.

#ifndef DISTBENCH_PROTOCOL_GRPC_TESTING_DRIVER_TESTING_H_
#define DISTBENCH_PROTOCOL_GRPC_TESTING_DRIVER_TESTING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gtest/gtest.h"

namespace distbench::protocol {

inline constexpr int64_t kNever = INT64_MAX;

// A combination of settings.
struct Mode {
  std::string client_type = "polling";
  std::string server_type = "inline";
  std::string pool_type = "";
  std::string pool_use = "";
  // Enough for the requests that the tests leave unanswered.
  int64_t pool_size = 64;

  config::DriverOptions Options() const;
};

// Returns all combinations.
std::vector<Mode> AllModes();

std::string ModeName(const testing::TestParamInfo<Mode>& info);

std::unique_ptr<ProtocolDriver> MakeDriver(
    const Mode& mode = {}, const std::vector<bool>& immediate_rpcs = {});

using Events = TestEvents;

// Polls a transport on its own thread. Only handshakes may arrive meanwhile.
class PollingThread {
 public:
  explicit PollingThread(Transport& transport);
  ~PollingThread();

 private:
  Transport& transport_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// A driver whose workers run on their own threads.
class Service : public TestServer {
 public:
  explicit Service(const Mode& mode,
                   Events::Handler handler = Events::ReplyAsAsked,
                   int workers = 1);
};

// A driver whose only worker is the test's thread.
class Client : public TestClient {
 public:
  Client(const Mode& mode, const std::vector<std::string>& peers);
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_TESTING_DRIVER_TESTING_H_
