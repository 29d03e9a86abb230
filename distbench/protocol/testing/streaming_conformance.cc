// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/testing/streaming_conformance.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/streams.h"
#include "gmock/gmock.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kPatienceNs = 20'000'000'000;
constexpr int64_t kStepNs = 10'000'000;

// Events of streams at one end; each end implements its half.
class Ends : public TransportEvents, protected StreamEvents {
 public:
  explicit Ends(Transport& transport) : transport_(transport) {}

  StreamEvents* stream_events() override { return this; }
  void OnDone(ClientCall*) override { ADD_FAILURE() << "not a unary call"; }
  void OnRequest(ServerCall*) override { ADD_FAILURE() << "not unary"; }

 protected:
  void OnWritten(ClientCall&, int64_t) override { ADD_FAILURE(); }
  void OnMessage(ClientCall&, int64_t, int64_t) override { ADD_FAILURE(); }
  void OnDone(ClientCall*, int64_t) override { ADD_FAILURE(); }
  void OnOpened(ServerCall*) override { ADD_FAILURE(); }
  void OnWritten(ServerCall&, int64_t) override { ADD_FAILURE(); }
  void OnMessage(ServerCall&, int64_t, int64_t) override { ADD_FAILURE(); }
  void OnRequestsOver(ServerCall&, int64_t) override { ADD_FAILURE(); }
  void OnBroken(ServerCall&, int64_t) override { ADD_FAILURE(); }

  StreamTransport& stack() { return *transport_.streams(); }

  Transport& transport_;
};

struct ServerPlan {
  int64_t responses = 1;  // sent when all requests have come; 0: never
  int64_t response_bytes = 1000;
  std::string refusal = {};  // of every RPC, as soon as it begins
};

// Answers RPCs one after another, on a thread of its own.
class StreamingServer {
 public:
  StreamingServer(std::unique_ptr<ProtocolDriver> driver, ServerPlan plan = {})
      : driver_(std::move(driver)),
        address_(driver_->Listen(1).value()),
        thread_([this, plan] { Run(plan); }) {}
  ~StreamingServer() { Stop(); }

  void Stop() {
    if (driver_ == nullptr) return;
    Pause(false);
    driver_->Shutdown();
    stopped_ = true;
    driver_->transport(0).Wake();
    thread_.join();
    driver_.reset();
  }

  // Stops polling until it is called again.
  void Pause(bool paused) { paused_ = paused; }

  const std::string& address() const { return address_; }

  std::atomic<int64_t> opened = 0;
  std::atomic<int64_t> messages = 0;
  std::atomic<int64_t> bytes = 0;
  std::atomic<int64_t> over = 0;
  std::atomic<int64_t> broken = 0;

 private:
  class Events final : public Ends {
   public:
    Events(Transport& transport, StreamingServer& server, ServerPlan plan)
        : Ends(transport), server_(server), plan_(std::move(plan)) {}

   private:
    void OnOpened(ServerCall* call) override {
      ++server_.opened;
      EXPECT_EQ(call->rpc_index, 3);
      EXPECT_EQ(call->server_instance, 5);
      EXPECT_TRUE(call->warmup);
      EXPECT_EQ(call->trace_context, "trace");
      call->reply_instance = 5;
      if (plan_.refusal.empty()) return;
      call->reply_error = plan_.refusal;
      stack().Finish(call, kNoMessage, 0);
    }
    void OnMessage(ServerCall&, int64_t bytes, int64_t) override {
      server_.bytes += bytes;
      ++server_.messages;
    }
    void OnRequestsOver(ServerCall& call, int64_t) override {
      ++server_.over;
      left_ = plan_.responses;
      if (left_ > 0) Respond(call);
    }
    void OnWritten(ServerCall& call, int64_t) override { Respond(call); }
    void OnBroken(ServerCall& call, int64_t) override {
      ++server_.broken;
      call.reply_error = "the client is gone";
      stack().Finish(&call, kNoMessage, 0);
    }
    void Respond(ServerCall& call) {
      if (--left_ > 0) {
        EXPECT_EQ(stack().Write(call, plan_.response_bytes),
                  plan_.response_bytes);
      } else {
        call.reply_error = {};
        stack().Finish(&call, plan_.response_bytes, /*blocked_ns=*/77);
      }
    }

    StreamingServer& server_;
    const ServerPlan plan_;
    int64_t left_ = 0;
  };

  void Run(const ServerPlan& plan) {
    Events events(driver_->transport(0), *this, plan);
    while (!stopped_) {
      if (paused_) {
        absl::SleepFor(absl::Milliseconds(1));
      } else {
        driver_->transport(0).Poll(base::NowNs() + kStepNs, events);
      }
    }
  }

  std::unique_ptr<ProtocolDriver> driver_;
  const std::string address_;
  std::atomic<bool> paused_ = false;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// Makes one RPC at a time, on the test's thread.
class StreamingClient final : public Ends {
 public:
  StreamingClient(std::unique_ptr<ProtocolDriver> driver,
                  const std::string& server)
      : StreamingClient(std::move(driver), server, ListenFirst{}) {}

  void Open(int64_t messages, int64_t bytes, int64_t deadline_ns = 0) {
    call.deadline_ns = deadline_ns;
    left_ = messages;
    bytes_ = bytes;
    stack().Open(&call);
    Write();
  }

  bool PollUntil(const std::function<bool()>& condition) {
    const int64_t give_up_ns = base::NowNs() + kPatienceNs;
    while (!condition()) {
      if (base::NowNs() > give_up_ns) return false;
      transport_.Poll(base::NowNs() + kStepNs, *this);
    }
    return true;
  }
  bool WaitForEnd() {
    return PollUntil([&] { return done > 0; });
  }
  void CancelCalls() { transport_.CancelCalls(); }
  // From now on, messages after the first one are written by WriteMore() only.
  void HoldBack() { holds_back_ = true; }
  bool may_write() const { return may_write_; }
  void WriteMore() { Write(); }

  ClientCall call{.rpc_index = 3,
                  .server_instance = 5,
                  .warmup = true,
                  .trace_context = "trace"};
  int64_t written = 0;
  int64_t messages = 0;
  int64_t bytes = 0;
  int done = 0;
  std::string error;
  int64_t server_blocked_ns = 0;

 private:
  struct ListenFirst {};
  StreamingClient(std::unique_ptr<ProtocolDriver> driver,
                  const std::string& server, ListenFirst)
      : Ends((driver->Listen(1).value(), driver->transport(0))),
        driver_(std::move(driver)) {
    EXPECT_EQ(driver_->Connect(SingleServers({server}),
                               absl::Now() + absl::Seconds(20)),
              absl::OkStatus());
  }

  void Write() {
    --left_;
    ++written;
    EXPECT_EQ(stack().Write(call, bytes_, /*last=*/left_ == 0), bytes_);
  }
  void OnWritten(ClientCall&, int64_t) override {
    ASSERT_GT(left_, 0) << "an event after the last message";
    may_write_ = true;
    if (!holds_back_) Write();
  }
  void OnMessage(ClientCall&, int64_t size, int64_t now_ns) override {
    EXPECT_LE(now_ns, base::NowNs());
    ++messages;
    bytes += size;
  }
  void OnDone(ClientCall* ended, int64_t blocked_ns) override {
    EXPECT_EQ(ended, &call);
    EXPECT_EQ(ended->transport_state, nullptr);
    EXPECT_LE(ended->sent_ns, ended->done_ns);
    ++done;
    error = std::string(ended->error);
    server_blocked_ns = blocked_ns;
  }

  const std::unique_ptr<ProtocolDriver> driver_;
  int64_t left_ = 0;
  int64_t bytes_ = 0;
  bool holds_back_ = false;
  bool may_write_ = false;
};

TEST_P(StreamingConformanceTest, MessagesArriveExactlyInBothDirections) {
  StreamingServer server(MakeDriver(),
                         {.responses = 7, .response_bytes = 30'000});
  StreamingClient client(MakeDriver(), server.address());
  for (int64_t bytes : {64, 1000, 200'000}) {
    server.messages = server.bytes = 0;
    client.messages = client.bytes = client.done = 0;
    client.Open(5, bytes);
    ASSERT_TRUE(client.WaitForEnd());
    EXPECT_EQ(client.error, "");
    EXPECT_EQ(server.messages, 5);
    EXPECT_EQ(server.bytes, 5 * bytes);
    EXPECT_EQ(client.messages, 7);
    EXPECT_EQ(client.bytes, 7 * 30'000);
    EXPECT_EQ(client.call.responding_instance, 5);
    EXPECT_EQ(client.server_blocked_ns, 77);
    EXPECT_EQ(client.done, 1);
  }
  EXPECT_EQ(server.broken, 0);
}

TEST_P(StreamingConformanceTest, TheServerCanRefuse) {
  StreamingServer server(MakeDriver(), {.refusal = "Traffic cancelled: no"});
  StreamingClient client(MakeDriver(), server.address());
  client.Open(100, 100'000);
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_EQ(client.error, "Traffic cancelled: no");
  EXPECT_EQ(client.messages, 0);
  EXPECT_EQ(server.messages, 0);
}

// A server that does not read makes the client's writes wait.
TEST_P(StreamingConformanceTest, FlowControlHoldsWritesBack) {
  constexpr int64_t kMessages = 64;
  constexpr int64_t kBytes = 1 << 20;
  StreamingServer server(MakeDriver());
  StreamingClient client(MakeDriver(), server.address());
  server.Pause(true);
  client.Open(kMessages, kBytes);
  const int64_t until_ns = base::NowNs() + 200'000'000;
  client.PollUntil([&] { return base::NowNs() > until_ns; });
  EXPECT_LT(client.written, kMessages);
  server.Pause(false);
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_EQ(client.error, "");
  EXPECT_EQ(client.written, kMessages);
  EXPECT_EQ(server.bytes, kMessages * kBytes);
}

TEST_P(StreamingConformanceTest, ADeadlineEndsBothEnds) {
  StreamingServer server(MakeDriver(), {.responses = 0});
  StreamingClient client(MakeDriver(), server.address());
  client.Open(2, 100, base::NowNs() + 100'000'000);
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_THAT(client.error, StartsWith("DEADLINE_EXCEEDED"));
  EXPECT_TRUE(client.PollUntil([&] { return server.broken == 1; }));
  EXPECT_EQ(client.done, 1);
}

TEST_P(StreamingConformanceTest, CancellationEndsBothEnds) {
  StreamingServer server(MakeDriver(), {.responses = 0});
  StreamingClient client(MakeDriver(), server.address());
  client.Open(2, 100);
  ASSERT_TRUE(client.PollUntil([&] { return server.over == 1; }));
  client.CancelCalls();
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_THAT(client.error, HasSubstr("CANCELLED"));
  EXPECT_TRUE(client.PollUntil([&] { return server.broken == 1; }));
  EXPECT_EQ(client.done, 1);
}

// A timer of the engine may be due in the turn in which it cancels all calls.
TEST_P(StreamingConformanceTest, MessagesAfterCancellationAreDropped) {
  StreamingServer server(MakeDriver(), {.responses = 0});
  StreamingClient client(MakeDriver(), server.address());
  client.HoldBack();
  client.Open(3, 100);
  ASSERT_TRUE(client.PollUntil(
      [&] { return client.may_write() && server.messages == 1; }));
  client.CancelCalls();
  client.WriteMore();
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_THAT(client.error, HasSubstr("CANCELLED"));
  EXPECT_TRUE(client.PollUntil([&] { return server.broken == 1; }));
  EXPECT_EQ(client.done, 1);
}

// What has arrived must not pass for all the requests. Whether the end of the
// call or that of its messages comes first is up to the stack: hence often.
TEST_P(StreamingConformanceTest, GivingUpAmongRequestsDoesNotEndThem) {
  constexpr int64_t kTimes = 50;
  StreamingServer server(MakeDriver());
  StreamingClient client(MakeDriver(), server.address());
  for (int64_t i = 1; i <= kTimes; ++i) {
    server.messages = client.done = 0;
    client.Open(1'000'000, 100);
    ASSERT_TRUE(client.PollUntil([&] { return server.messages >= 2; }));
    client.CancelCalls();
    ASSERT_TRUE(client.WaitForEnd());
    ASSERT_TRUE(client.PollUntil([&] { return server.broken == i; }));
  }
  EXPECT_EQ(server.over, 0);
  EXPECT_EQ(client.messages, 0);
}

TEST_P(StreamingConformanceTest, AServerThatHasShutDownFailsTheRpc) {
  StreamingServer server(MakeDriver());
  StreamingClient client(MakeDriver(), server.address());
  client.Open(1, 100);
  ASSERT_TRUE(client.WaitForEnd());
  server.Stop();
  client.done = 0;
  client.Open(3, 100);
  ASSERT_TRUE(client.WaitForEnd());
  EXPECT_THAT(client.error, StartsWith("UNAVAILABLE"));
}

}  // namespace
}  // namespace distbench::protocol
