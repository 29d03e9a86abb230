// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests peers of several servers, among which gRPC's load balancing chooses.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/grpc_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNever = INT64_MAX;

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

std::unique_ptr<ProtocolDriver> MakeDriver(const std::string& host) {
  return MakeGrpcDriver({}, {.service_address = host}).value();
}

// Answers all requests under its own number.
class Server final : private TransportEvents {
 public:
  explicit Server(int number, const std::string& host = "127.0.0.1")
      : number_(number),
        driver_(MakeDriver(host)),
        address_(driver_->Listen(1).value()),
        thread_([this] {
          while (!stopped_) driver_->transport(0).Poll(kNever, *this);
        }) {}

  ~Server() override { Stop(); }

  void Stop() {
    if (!thread_.joinable()) return;
    driver_->Shutdown();
    stopped_ = true;
    driver_->transport(0).Wake();
    thread_.join();
    driver_.reset();
  }

  const std::string& address() const { return address_; }

 private:
  void OnDone(ClientCall*) override {}
  void OnRequest(ServerCall* call) override {
    EXPECT_EQ(call->server_instance, kAnyInstance);
    call->reply_instance = number_;
    call->reply_bytes = 32;
    driver_->transport(0).Reply(call);
  }

  const int number_;
  std::unique_ptr<ProtocolDriver> driver_;
  const std::string address_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

class Client final : private TransportEvents {
 public:
  Client() : driver_(MakeDriver("127.0.0.1")) {
    EXPECT_TRUE(driver_->Listen(1).ok());
  }

  absl::Status Connect(const std::vector<Peer>& peers,
                       absl::Time deadline = Soon()) {
    return driver_->Connect(peers, deadline);
  }

  // Returns the number of the server that answered.
  int Call(int peer = 0) {
    ClientCall call = {
        .peer = peer, .server_instance = kAnyInstance, .request_bytes = 100};
    done_ = false;
    EXPECT_TRUE(driver_->transport(0).Start(&call));
    while (!done_) driver_->transport(0).Poll(kNever, *this);
    return call.responding_instance;
  }

  // Calls until this many servers have answered: connections after the first
  // are established a little later.
  void CallUntilAllAnswer(int server_count) {
    std::map<int, int> answers;
    const absl::Time deadline = Soon();
    while (answers.size() < server_count && absl::Now() < deadline) {
      ++answers[Call()];
    }
    EXPECT_EQ(answers.size(), server_count);
  }

 private:
  void OnDone(ClientCall*) override { done_ = true; }
  void OnRequest(ServerCall*) override {}

  std::unique_ptr<ProtocolDriver> driver_;
  bool done_ = false;
};

TEST(MultiServerTest, RoundRobinSpreadsEvenly) {
  Server servers[] = {Server(0), Server(1), Server(2)};
  Client client;
  ASSERT_EQ(
      client.Connect({{.addresses = {servers[0].address(), servers[1].address(),
                                     servers[2].address()},
                       .policy = config::kRoundRobinPolicy}}),
      absl::OkStatus());
  client.CallUntilAllAnswer(3);
  std::map<int, int> answers;
  for (int i = 0; i < 12; ++i) ++answers[client.Call()];
  EXPECT_EQ(answers, (std::map<int, int>{{0, 4}, {1, 4}, {2, 4}}));
}

TEST(MultiServerTest, PickFirstStaysWithOne) {
  Server servers[] = {Server(0), Server(1)};
  Client client;
  ASSERT_EQ(client.Connect(
                {{.addresses = {servers[0].address(), servers[1].address()},
                  .policy = config::kPickFirstPolicy}}),
            absl::OkStatus());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.Call(), 0);
}

TEST(MultiServerTest, ServerThatDiesIsPassedOver) {
  Server servers[] = {Server(0), Server(1)};
  Client client;
  ASSERT_EQ(client.Connect(
                {{.addresses = {servers[0].address(), servers[1].address()},
                  .policy = config::kRoundRobinPolicy}}),
            absl::OkStatus());
  client.CallUntilAllAnswer(2);
  servers[0].Stop();
  // Until gRPC has noticed, calls to the dead server may fail.
  const absl::Time deadline = Soon();
  int in_a_row = 0;
  while (in_a_row < 10 && absl::Now() < deadline) {
    in_a_row = client.Call() == 1 ? in_a_row + 1 : 0;
  }
  EXPECT_EQ(in_a_row, 10);
}

TEST(MultiServerTest, PeersOfOneServerStandBesideThem) {
  Server servers[] = {Server(0), Server(1)};
  Client client;
  ASSERT_EQ(client.Connect(
                {{.addresses = {servers[1].address()}},
                 {.addresses = {servers[0].address(), servers[1].address()},
                  .policy = config::kPickFirstPolicy}}),
            absl::OkStatus());
  EXPECT_EQ(client.Call(/*peer=*/0), 1);
  EXPECT_EQ(client.Call(/*peer=*/1), 0);
}

TEST(MultiServerTest, ServersMayHaveAddressesOfBothFamilies) {
  auto probe = MakeDriver("::1");
  if (!probe->Listen(1).ok()) GTEST_SKIP() << "this host has no IPv6";
  Server servers[] = {Server(0, "127.0.0.1"), Server(1, "::1"),
                      Server(2, "localhost")};
  Client client;
  ASSERT_EQ(
      client.Connect({{.addresses = {servers[0].address(), servers[1].address(),
                                     servers[2].address()},
                       .policy = config::kRoundRobinPolicy}}),
      absl::OkStatus());
  client.CallUntilAllAnswer(3);
}

TEST(MultiServerTest, ConnectNamesTheServerThatIsNotThere) {
  Server server(0);
  std::string closed_address;
  {
    Server closed(1);
    closed_address = closed.address();
  }
  Client client;
  const absl::Status status =
      client.Connect({{.addresses = {server.address(), closed_address},
                       .policy = config::kRoundRobinPolicy}},
                     absl::Now() + absl::Milliseconds(300));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr(closed_address), Not(HasSubstr(server.address()))));
}

}  // namespace
}  // namespace distbench::protocol
