// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_streams.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/external/calls/external_router.h"
#include "distbench/products/external/calls/testing/foreign_server.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/streams.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// What a server does with a stream of requests.
struct Behaviour {
  bool echoes = false;       // each request at once
  bool reads = true;         // false: nothing is taken in
  int answers_at_end = 0;    // once the client has sent all
  int ends_after = 0;        // requests, without the others; 0: never
  grpc::Status status = {};  // of its end
  grpc_compression_algorithm compression = GRPC_COMPRESS_NONE;
  std::string answer = "answer";
};

class StreamingServer final : private grpc::CallbackGenericService {
 public:
  explicit StreamingServer(Behaviour behaviour)
      : behaviour_(std::move(behaviour)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~StreamingServer() { server_->Shutdown(absl::ToChronoTime(absl::Now())); }

  std::string host_port() const { return absl::StrCat("127.0.0.1:", port_); }
  std::string address() const {
    return absl::StrCat(config::kOutsidePrefix, host_port());
  }

  std::vector<std::string> requests() const {
    const absl::MutexLock lock(&mutex_);
    return requests_;
  }
  std::map<std::string, std::string> metadata() const {
    const absl::MutexLock lock(&mutex_);
    return metadata_;
  }
  // Of all streams.
  int answers() const { return answers_; }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor(StreamingServer& server,
            grpc::GenericCallbackServerContext& context)
        : server_(server), behaviour_(server.behaviour_) {
      context.set_compression_algorithm(behaviour_.compression);
      left_ = behaviour_.answers_at_end;
      if (behaviour_.reads) StartRead(&request_);
    }

    void OnReadDone(bool ok) override {
      if (!ok) return AnswerAtEnd();
      grpc::Slice slice;
      EXPECT_TRUE(request_.DumpToSingleSlice(&slice).ok());
      server_.Keep(
          {reinterpret_cast<const char*>(slice.begin()), slice.size()});
      if (++received_ == behaviour_.ends_after) {
        return Finish(behaviour_.status);
      }
      if (!behaviour_.echoes) return StartRead(&request_);
      response_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&response_);
    }
    void OnWriteDone(bool ok) override {
      // The client has given up.
      if (!ok) return Finish(grpc::Status::CANCELLED);
      ++server_.answers_;
      behaviour_.echoes ? StartRead(&request_) : AnswerAtEnd();
    }
    void OnCancel() override {
      if (!behaviour_.reads) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    void AnswerAtEnd() {
      if (left_-- <= 0) return Finish(behaviour_.status);
      const grpc::Slice slice(behaviour_.answer);
      response_ = grpc::ByteBuffer(&slice, 1);
      StartWrite(&response_);
    }

    StreamingServer& server_;
    const Behaviour behaviour_;
    grpc::ByteBuffer request_;
    grpc::ByteBuffer response_;
    int received_ = 0;
    int left_ = 0;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, value] : context->client_metadata()) {
      metadata_[std::string(name.data(), name.size())] =
          std::string(value.data(), value.size());
    }
    return new Reactor(*this, *context);
  }

  void Keep(std::string request) {
    const absl::MutexLock lock(&mutex_);
    requests_.push_back(std::move(request));
  }

  const Behaviour behaviour_;
  std::atomic<int> answers_ = 0;
  int port_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> metadata_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> server_;
};

// Streams from one worker, each of which sends its next message when the stack
// has taken the last.
class Worker final : public protocol::TransportEvents,
                     private protocol::StreamEvents {
 public:
  struct Rpc {
    protocol::ClientCall call;
    int left = 0;
    int64_t sent_bytes = 0;
    std::vector<int64_t> written_ns;
    std::vector<int64_t> received_ns;
    int64_t received_bytes = 0;
    bool is_done = false;
    std::string error;
  };

  Worker(ExternalCalls calls, const std::vector<protocol::Peer>& peers,
         MakeInner make_inner)
      : client_(ClientOf(std::move(calls), peers, make_inner())) {}

  Rpc& Open(int messages, int64_t deadline_ns = 0, int peer = 0) {
    Rpc& rpc = *rpcs_.emplace_back(std::make_unique<Rpc>());
    rpc.left = messages;
    rpc.call.peer = peer;
    rpc.call.deadline_ns = deadline_ns;
    by_call_[&rpc.call] = &rpc;
    streams().Open(&rpc.call);
    Write(rpc);
    return rpc;
  }

  // Returns the error of the stream.
  std::string Run(int messages) {
    Rpc& rpc = Open(messages);
    return AwaitEnd(rpc);
  }
  std::string AwaitEnd(const Rpc& rpc) {
    PollUntil([&rpc] { return rpc.is_done; });
    return rpc.error;
  }
  void PollUntil(const std::function<bool()>& condition) {
    const absl::Time patience = absl::Now() + absl::Seconds(60);
    while (!condition()) {
      ASSERT_LT(absl::Now(), patience);
      client_->transport().Poll(base::NowNs() + 10'000'000, *this);
    }
  }

  protocol::StreamTransport& streams() {
    return *client_->transport().streams();
  }
  protocol::TestClient& client() { return *client_; }
  const std::vector<std::unique_ptr<Rpc>>& rpcs() const { return rpcs_; }

  std::map<std::string, int64_t> Counters() {
    client_->Shutdown();
    std::map<std::string, int64_t> counters;
    for (const protocol::DriverCounter& counter :
         client_->driver().Counters()) {
      counters[counter.name] = counter.value;
    }
    return counters;
  }

 private:
  void Write(Rpc& rpc) {
    --rpc.left;
    rpc.sent_bytes += streams().Write(rpc.call, /*bytes=*/0, rpc.left == 0);
  }

  protocol::StreamEvents* stream_events() override { return this; }
  void OnDone(protocol::ClientCall*) override {}
  void OnRequest(protocol::ServerCall*) override {}
  void OnWritten(protocol::ClientCall& call, int64_t now_ns) override {
    Rpc& rpc = *by_call_.at(&call);
    EXPECT_GT(rpc.left, 0);
    rpc.written_ns.push_back(now_ns);
    Write(rpc);
  }
  void OnMessage(protocol::ClientCall& call, int64_t bytes,
                 int64_t now_ns) override {
    Rpc& rpc = *by_call_.at(&call);
    EXPECT_FALSE(rpc.is_done);
    rpc.received_ns.push_back(now_ns);
    rpc.received_bytes += bytes;
  }
  void OnDone(protocol::ClientCall* call, int64_t blocked_ns) override {
    Rpc& rpc = *by_call_.at(call);
    EXPECT_FALSE(rpc.is_done);
    EXPECT_EQ(blocked_ns, protocol::kNotReported);
    rpc.is_done = true;
    rpc.error = std::string(call->error);
    EXPECT_GE(call->done_ns, call->sent_ns);
  }
  void OnOpened(protocol::ServerCall*) override {}
  void OnWritten(protocol::ServerCall&, int64_t) override {}
  void OnMessage(protocol::ServerCall&, int64_t, int64_t) override {}
  void OnRequestsOver(protocol::ServerCall&, int64_t) override {}
  void OnBroken(protocol::ServerCall&, int64_t) override {}

  std::vector<std::unique_ptr<Rpc>> rpcs_;
  std::map<const protocol::ClientCall*, Rpc*> by_call_;
  std::unique_ptr<protocol::TestClient> client_;
};

constexpr char kCounted[] = R"({"text": "m{{counter}}"})";

ExternalCalls StreamsOf(const std::string& method,
                        const std::string& request = kCounted) {
  ExternalCalls calls = CallsOf(method, request);
  calls.calls[0].stream = CallStream{};
  return calls;
}

// See ExternalCallsTest.
class ExternalStreamsTest : public testing::TestWithParam<MakeInner> {};

INSTANTIATE_TEST_SUITE_P(EachInner, ExternalStreamsTest,
                         testing::Values(MakeInnerGrpc, MakeInnerLoopback));

TEST_P(ExternalStreamsTest, EachMessageIsMadeFromTheTemplate) {
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk);
  calls.calls[0].metadata = {{"x-key", "v{{counter}}"}};
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  const Worker::Rpc& rpc = worker.Open(3);
  EXPECT_EQ(worker.AwaitEnd(rpc), "");
  EXPECT_THAT(server.requests(),
              ElementsAre("\n\x02m0", "\n\x02m1", "\n\x02m2"));
  EXPECT_EQ(server.metadata().at("x-key"), "v0");
  EXPECT_EQ(rpc.sent_bytes, 12);
  EXPECT_EQ(rpc.received_bytes, 12);
  EXPECT_THAT(rpc.received_ns, SizeIs(3));
  EXPECT_THAT(rpc.written_ns, SizeIs(2)) << "not after the last";
  EXPECT_GE(rpc.received_ns[0], rpc.call.sent_ns);
  EXPECT_EQ(rpc.call.responding_instance, 0);
}

TEST_P(ExternalStreamsTest, ServersMayStreamOneWay) {
  StreamingServer list({.answers_at_end = 5});
  Worker worker(StreamsOf(kList), protocol::SingleServers({list.address()}),
                GetParam());
  const Worker::Rpc& rpc = worker.Open(1);
  EXPECT_EQ(worker.AwaitEnd(rpc), "");
  EXPECT_EQ(rpc.received_bytes, 5 * 6);
  StreamingServer upload({.answers_at_end = 1});
  Worker sender(StreamsOf(kUpload), protocol::SingleServers({upload.address()}),
                GetParam());
  EXPECT_EQ(sender.Run(20), "");
  EXPECT_THAT(upload.requests(), SizeIs(20));
  // A list may be empty, but not the answer of an upload.
  StreamingServer silent({});
  EXPECT_EQ(Worker(StreamsOf(kList),
                   protocol::SingleServers({silent.address()}), GetParam())
                .Run(1),
            "");
  EXPECT_THAT(Worker(StreamsOf(kUpload),
                     protocol::SingleServers({silent.address()}), GetParam())
                  .Run(2),
              StartsWith("INTERNAL: the server did not send one response"));
}

TEST_P(ExternalStreamsTest, AnErrorAfterHalfEndsTheStream) {
  StreamingServer server(
      {.echoes = true,
       .ends_after = 3,
       .status = {grpc::StatusCode::FAILED_PRECONDITION, "no more"}});
  Worker worker(StreamsOf(kTalk), protocol::SingleServers({server.address()}),
                GetParam());
  const Worker::Rpc& rpc = worker.Open(1'000'000);
  EXPECT_EQ(worker.AwaitEnd(rpc), "FAILED_PRECONDITION: no more");
  EXPECT_EQ(rpc.call.responding_instance, protocol::kNoInstance);
  EXPECT_LE(rpc.received_ns.size(), 2);
}

// That it ended before its messages, the engine says.
TEST_P(ExternalStreamsTest, AServerMayEndAStreamEarly) {
  StreamingServer server({.ends_after = 1});
  Worker worker(StreamsOf(kTalk), protocol::SingleServers({server.address()}),
                GetParam());
  const Worker::Rpc& rpc = worker.Open(1'000'000);
  EXPECT_EQ(worker.AwaitEnd(rpc), "");
  EXPECT_GT(rpc.left, 0);
}

TEST_P(ExternalStreamsTest, FlowControlDelaysWrites) {
  StreamingServer server({.reads = false});
  ExternalCalls calls = StreamsOf(
      kTalk, absl::StrCat("{\"text\": \"", std::string(100'000, 'x'), "\"}"));
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  const int64_t deadline_ns = base::NowNs() + 300'000'000;
  const Worker::Rpc& rpc = worker.Open(1'000'000, deadline_ns);
  EXPECT_THAT(worker.AwaitEnd(rpc), StartsWith("DEADLINE_EXCEEDED"));
  // gRPC's windows are some megabytes at most.
  EXPECT_LT(rpc.sent_bytes, 100'000'000);
  EXPECT_GE(rpc.call.done_ns, deadline_ns);
}

TEST_P(ExternalStreamsTest, AThousandStreamsAtOnce) {
  constexpr int kStreams = 1000;
  constexpr int kMessages = 5;
  StreamingServer server({.echoes = true});
  Worker worker(StreamsOf(kTalk), protocol::SingleServers({server.address()}),
                GetParam());
  for (int i = 0; i < kStreams; ++i) worker.Open(kMessages);
  for (const auto& rpc : worker.rpcs()) {
    EXPECT_EQ(worker.AwaitEnd(*rpc), "");
    EXPECT_THAT(rpc->received_ns, SizeIs(kMessages));
  }
  EXPECT_THAT(server.requests(), SizeIs(kStreams * kMessages));
}

TEST_P(ExternalStreamsTest, EndsWhatIsGivenUp) {
  StreamingServer server({.reads = false});
  Worker worker(StreamsOf(kTalk), protocol::SingleServers({server.address()}),
                GetParam());
  Worker::Rpc& given_up = worker.Open(2);
  worker.streams().CancelStream(given_up.call);
  EXPECT_THAT(worker.AwaitEnd(given_up), StartsWith("CANCELLED"));
  const Worker::Rpc& stopped = worker.Open(2);
  worker.client().transport().CancelCalls();
  EXPECT_THAT(worker.AwaitEnd(stopped), StartsWith("CANCELLED"));
  // Those of a driver that is destroyed are dropped.
  worker.Open(2);
}

TEST_P(ExternalStreamsTest, MessagesThatCannotBeMadeEndTheStream) {
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk, R"({"{{choice:text}}": {{row:v}}})");
  calls.calls[0].rows = {{"v"}, {"\"a\""}, {"[]"}, {"[]"}};
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  EXPECT_THAT(worker.Run(3), StartsWith("INVALID_ARGUMENT: request 1: "));
  EXPECT_THAT(worker.Run(3), StartsWith("INVALID_ARGUMENT: request 2: "));
}

TEST_P(ExternalStreamsTest, ARateHoldsMessagesBack) {
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk);
  calls.servers[server.host_port()].max_rate = 50;
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  const int64_t begin_ns = base::NowNs();
  EXPECT_EQ(worker.Run(6), "");
  // The first passes at once, and each may be 10 ms early.
  EXPECT_GE(base::NowNs() - begin_ns, 90'000'000);
  const Worker::Rpc& late = worker.Open(3, base::NowNs() + 15'000'000);
  EXPECT_THAT(worker.AwaitEnd(late), StartsWith("DEADLINE_EXCEEDED"));
  const Worker::Rpc& given_up = worker.Open(30);
  worker.PollUntil([&] { return given_up.received_ns.size() == 2; });
  worker.client().transport().CancelCalls();
  EXPECT_THAT(worker.AwaitEnd(given_up), StartsWith("CANCELLED"));
  EXPECT_GE(worker.Counters()["held_back_by_rate"], 2);
}

// The rate lets the next message pass in a quarter of an hour.
TEST_P(ExternalStreamsTest, AStreamThatARateHoldsBackEndsAtItsDeadline) {
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk);
  calls.servers[server.host_port()].max_rate = 0.001;
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  EXPECT_EQ(worker.Run(1), "");
  const Worker::Rpc& held = worker.Open(1, base::NowNs() + 20'000'000);
  EXPECT_EQ(worker.AwaitEnd(held),
            "DEADLINE_EXCEEDED: the rate of --allow_target held it back");
}

TEST_P(ExternalStreamsTest, ARateHoldsBackWithoutChangingTheOrder) {
  constexpr int64_t kIntervalNs = 40'000'000;
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk);
  calls.servers[server.host_port()].max_rate = 1e9 / kIntervalNs;
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  for (int i = 0; i < 4; ++i) worker.Open(1);
  // The worker is late: the rate has room, and the second waits for its turn.
  const int64_t free_ns = base::NowNs() + kIntervalNs;
  while (base::NowNs() < free_ns) {
  }
  worker.Open(1);
  int64_t last_ns = 0;
  for (const auto& rpc : worker.rpcs()) {
    EXPECT_EQ(worker.AwaitEnd(*rpc), "");
    EXPECT_GT(rpc->call.sent_ns, last_ns);
    last_ns = rpc->call.sent_ns;
  }
}

TEST_P(ExternalStreamsTest, AStreamEndsAtItsDeadlineBehindOneWithoutAny) {
  StreamingServer server({.echoes = true});
  ExternalCalls calls = StreamsOf(kTalk);
  calls.servers[server.host_port()].max_rate = 0.001;
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  EXPECT_EQ(worker.Run(1), "");
  const Worker::Rpc& first = worker.Open(1);
  const Worker::Rpc& second = worker.Open(1, base::NowNs() + 20'000'000);
  EXPECT_THAT(worker.AwaitEnd(second), StartsWith("DEADLINE_EXCEEDED"));
  EXPECT_FALSE(first.is_done);
  worker.client().transport().CancelCalls();
  EXPECT_THAT(worker.AwaitEnd(first), StartsWith("CANCELLED"));
}

// The loopback's worker does not poll, but a thread reads. The server must not
// fill the memory.
TEST(ExternalStreamsThreadTest, ResponsesWaitForAWorkerThatIsFarBehind) {
  constexpr int kResponses = 5000;
  // They fit into gRPC's first window, of 64 KiB, without being read.
  constexpr int kBehind = 4000;
  StreamingServer server({.answers_at_end = kResponses});
  Worker worker(StreamsOf(kList), protocol::SingleServers({server.address()}),
                MakeInnerLoopback);
  const Worker::Rpc& rpc = worker.Open(1);
  const absl::Time patience = absl::Now() + absl::Seconds(60);
  while (server.answers() < kBehind) ASSERT_LT(absl::Now(), patience);
  const int64_t polled_ns = base::NowNs();
  EXPECT_EQ(worker.AwaitEnd(rpc), "");
  EXPECT_THAT(rpc.received_ns, SizeIs(kResponses));
  EXPECT_LE(std::count_if(rpc.received_ns.begin(), rpc.received_ns.end(),
                          [&](int64_t ns) { return ns < polled_ns; }),
            1024);
}

TEST_P(ExternalStreamsTest, ResponsesHaveALimit) {
  for (const auto compression : {GRPC_COMPRESS_NONE, GRPC_COMPRESS_GZIP}) {
    StreamingServer server({.answers_at_end = 3,
                            .compression = compression,
                            .answer = std::string(5000, 'x')});
    ExternalCalls calls = StreamsOf(kList);
    calls.servers[server.host_port()].max_response_bytes = 4999;
    Worker worker(calls, protocol::SingleServers({server.address()}),
                  GetParam());
    EXPECT_THAT(worker.Run(1),
                StartsWith("RESOURCE_EXHAUSTED: a response has more than 4999 "
                           "bytes; raise max_response"));
    EXPECT_EQ(worker.Counters()["responses_above_max_response"], 1);
    calls.servers[server.host_port()].max_response_bytes = 5000;
    EXPECT_EQ(
        Worker(calls, protocol::SingleServers({server.address()}), GetParam())
            .Run(1),
        "");
  }
}

TEST_P(ExternalStreamsTest, CompressesAndSaysByHowMuch) {
  StreamingServer server({.echoes = true, .compression = GRPC_COMPRESS_GZIP});
  ExternalCalls calls = StreamsOf(
      kTalk, absl::StrCat("{\"text\": \"", std::string(5000, 'x'), "\"}"));
  calls.calls[0].uses_gzip = true;
  Worker worker(std::move(calls), protocol::SingleServers({server.address()}),
                GetParam());
  const Worker::Rpc& rpc = worker.Open(3);
  EXPECT_EQ(worker.AwaitEnd(rpc), "");
  EXPECT_EQ(rpc.sent_bytes, 3 * 5003);
  EXPECT_EQ(rpc.received_bytes, 3 * 5003);
  EXPECT_THAT(server.requests(), SizeIs(3));
  EXPECT_EQ(server.requests()[2].size(), 5003) << "as gRPC uncompressed it";
  std::map<std::string, int64_t> counters = worker.Counters();
  EXPECT_EQ(counters["gzip_request_bytes_before"], 3 * 5003);
  EXPECT_LT(counters["gzip_request_bytes_after"], 300);
  EXPECT_GT(counters["gzip_request_bytes_after"], 30);
  EXPECT_EQ(counters["gzip_response_bytes_before"], 3 * 5003);
  EXPECT_LT(counters["gzip_response_bytes_after"], 300);
}

}  // namespace
}  // namespace distbench::external
