// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/server_side.h"

#include <grpc/grpc.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/client/client_side.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/server/handler_pool.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/security/credentials.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {

// Makes all that use a pool wait.
class HandlerPoolHolder {
 public:
  explicit HandlerPoolHolder(HandlerPool& pool) : lock_(&pool.mutex_) {}

 private:
  const absl::MutexLock lock_;
};

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// An address reserved for documentation, which no host has.
constexpr char kForeignAddress[] = "192.0.2.1:0";

constexpr int64_t kPatienceNs = 20'000'000'000;

// Keeps what happens.
class Events final : public TransportEvents {
 public:
  void OnRequest(ServerCall* call) override { requests.push_back(call); }
  void OnDone(ClientCall* call) override { errors.emplace_back(call->error); }

  std::vector<ServerCall*> requests;
  std::vector<std::string> errors;  // of calls that have ended
};

struct ServerKind {
  const char* name;
  bool by_callback;
  bool uses_pool;
};

// A listener with one side, and a client, which one thread polls.
class ServerSideTest : public testing::TestWithParam<ServerKind> {
 protected:
  ServerSideTest()
      : timer_(WakeTimer::Make().value()),
        queue_(timer_->NewAlarm().value(), /*spin_ns=*/0),
        client_queue_(timer_->NewAlarm().value(), /*spin_ns=*/0) {
    if (GetParam().by_callback) callbacks_.emplace();
    if (GetParam().uses_pool) {
      pool_ = HandlerPool::Make(HandlerPool::Kind::kSimple, 1).value();
    }
    listener_ = MakeUnaryListener(ChannelArguments(), {.pool = pool_.get()},
                                  callbacks_ ? &*callbacks_ : nullptr, {},
                                  /*measures_time_parts=*/true);
    side_ = listener_->MakeServerSide(queue_);
  }

  ~ServerSideTest() override {
    if (client_ != nullptr) {
      listener_->Shutdown(queue_);
      side_->Close();
      client_->Close();
      EXPECT_TRUE(PollUntil([this] {
        return listener_->stopped() && side_->drained() &&
               client_->in_flight() == 0;
      }));
    }
    pool_.reset();
    side_.reset();
    client_.reset();
    queue_.DrainForever(events_);
    client_queue_.DrainForever(events_);
  }

  void Start() {
    const int port = listener_->Start("127.0.0.1:0");
    ASSERT_NE(port, 0);
    client_ = MakeUnaryClient(client_queue_, nullptr);
    std::vector<std::vector<Channel>> channels(1);
    channels[0].emplace_back(TargetOf("127.0.0.1", port),
                             grpc_channel_args{.num_args = 0, .args = nullptr},
                             security::PeerChannelCredentials(nullptr).get());
    client_->SetChannels(std::move(channels));
  }

  ClientCall& StartCall() {
    EXPECT_TRUE(client_->Start(&calls_.emplace_back()));
    return calls_.back();
  }

  template <typename Condition>
  bool PollUntil(Condition condition) {
    const int64_t give_up_ns = base::NowNs() + kPatienceNs;
    while (!condition()) {
      if (base::NowNs() > give_up_ns) return false;
      queue_.Poll(base::NowNs() + 100'000, events_);
      client_queue_.Poll(base::NowNs() + 100'000, events_);
    }
    return true;
  }

  const GrpcLibrary library_;
  std::optional<CallbackQueue> callbacks_;
  const std::unique_ptr<WakeTimer> timer_;
  EventQueue queue_;
  EventQueue client_queue_;
  std::unique_ptr<HandlerPool> pool_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<ServerSide> side_;
  std::unique_ptr<ClientSide> client_;
  std::deque<ClientCall> calls_;  // stay where they are
  Events events_;
};

TEST_P(ServerSideTest, AnAddressIsNotAvailable) {
  EXPECT_EQ(listener_->Start(kForeignAddress), 0);
  side_->Close();
  EXPECT_TRUE(side_->drained());
}

TEST_P(ServerSideTest, NoRequestReachesTheWorkerOnceItIsClosed) {
  constexpr size_t kLate = 10;
  Start();
  StartCall();
  ASSERT_TRUE(PollUntil([&] { return !events_.requests.empty(); }));
  side_->Close();
  for (size_t i = 0; i < kLate; ++i) StartCall();
  ASSERT_TRUE(PollUntil([&] {
    return events_.requests.size() > 1 || events_.errors.size() == kLate;
  }));
  EXPECT_THAT(events_.requests, SizeIs(1));
  EXPECT_THAT(events_.errors, Each("UNAVAILABLE: the instance has shut down"));
}

TEST_P(ServerSideTest, AReplyDoesNotWaitForThePool) {
  if (pool_ == nullptr) return;  // there is nothing to wait for
  Start();
  const ClientCall& call = StartCall();
  ASSERT_TRUE(PollUntil([&] { return !events_.requests.empty(); }));
  absl::Notification held;
  std::thread holder([&] {
    const HandlerPoolHolder hold(*pool_);
    held.Notify();
    const int64_t give_up_ns = base::NowNs() + kPatienceNs;
    while (events_.errors.empty() && base::NowNs() < give_up_ns) {
      client_queue_.Poll(base::NowNs() + 100'000, events_);
    }
    EXPECT_THAT(events_.errors, ElementsAre(""));
  });
  held.WaitForNotification();
  events_.requests[0]->begun_ns = base::NowNs();
  side_->Reply(events_.requests[0]);
  holder.join();
  EXPECT_GE(call.server_handler_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(ServerTypes, ServerSideTest,
                         testing::Values(ServerKind{"inline", false, false},
                                         ServerKind{"polling", false, true},
                                         ServerKind{"handoff", true, true}),
                         [](const testing::TestParamInfo<ServerKind>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace distbench::protocol
