// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/testing/driver_testing.h"

#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;
constexpr int64_t kStepNs = 10'000'000;

}  // namespace

void TestEvents::ReplyAsAsked(Transport& transport, ServerCall* call) {
  call->reply_bytes = call->response_bytes;
  call->reply_instance = call->server_instance;
  call->reply_error = {};
  transport.Reply(call);
}

bool TestEvents::PollUntil(const std::function<bool()>& condition) {
  const int64_t give_up_ns = base::NowNs() + kPatienceNs;
  while (!condition()) {
    if (base::NowNs() > give_up_ns) return false;
    transport_.Poll(base::NowNs() + kStepNs, *this);
  }
  return true;
}

std::string TestEvents::Call(ClientCall& call) {
  errors_.erase(&call);
  EXPECT_TRUE(transport_.Start(&call));
  EXPECT_TRUE(PollUntil([&] { return Finished(call); }));
  return Finished(call) ? error(call) : "not finished";
}

void TestEvents::OnDone(ClientCall* call) {
  EXPECT_FALSE(delivering_.exchange(true));
  EXPECT_EQ(call->transport_state, nullptr);
  errors_[call] = std::string(call->error);
  on_done(call);
  delivering_ = false;
}

void TestEvents::OnRequest(ServerCall* call) {
  EXPECT_FALSE(delivering_.exchange(true));
  call->begun_ns = base::NowNs();
  handler_(transport_, call);
  delivering_ = false;
}

TestServer::TestServer(const DriverFactory& make_driver,
                       TestEvents::Handler handler, int workers)
    : driver_(make_driver()), address_(driver_->Listen(workers).value()) {
  for (int i = 0; i < workers; ++i) {
    threads_.emplace_back([this, i, handler] {
      TestEvents events(driver_->transport(i), handler);
      while (!stopped_) driver_->transport(i).Poll(INT64_MAX, events);
    });
  }
}

void TestServer::Stop() {
  if (stopped_) return;
  driver_->Shutdown();
  stopped_ = true;
  for (size_t i = 0; i < threads_.size(); ++i) driver_->transport(i).Wake();
  for (std::thread& thread : threads_) thread.join();
  driver_.reset();
}

TestClient::TestClient(std::unique_ptr<ProtocolDriver> driver,
                       const std::vector<Peer>& peers)
    : driver_(std::move(driver)) {
  EXPECT_TRUE(driver_->Listen(1).ok());
  EXPECT_EQ(driver_->Connect(peers, absl::Now() + absl::Seconds(20)),
            absl::OkStatus());
  events_ = std::make_unique<TestEvents>(driver_->transport(0));
}

void TestClient::Shutdown() {
  std::atomic<bool> done = false;
  std::thread shutdown([&] {
    driver_->Shutdown();
    done = true;
    transport().Wake();
  });
  while (!done) transport().Poll(INT64_MAX, *events_);
  shutdown.join();
}

}  // namespace distbench::protocol
