#include "distbench/protocol/testing/time_parts_conformance.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"

namespace distbench::protocol {
namespace {

int64_t ServiceTimeNs(const ClientCall& call) {
  return call.done_ns - call.sent_ns;
}

// Answers requests that are not of the warm-up when one of the warm-up arrives,
// and keeps the times of the first one.
class SlowServer {
 public:
  struct Times {
    int64_t received_ns = 0;
    int64_t handled_ns = 0;
    int64_t replied_ns = 0;
  };

  TestEvents::Handler handler() {
    return [this](Transport& transport, ServerCall* call) {
      const absl::MutexLock lock(&mutex_);
      kept_.push_back(call);
      if (kept_.size() == 1) {
        times_.received_ns = call->received_ns;
        times_.handled_ns = base::NowNs();
      }
      ++arrived_;
      if (!call->warmup) return;
      times_.replied_ns = base::NowNs();
      for (ServerCall* kept : kept_) TestEvents::ReplyAsAsked(transport, kept);
      kept_.clear();
    };
  }

  int arrived() const {
    const absl::MutexLock lock(&mutex_);
    return arrived_;
  }
  Times times() const {
    const absl::MutexLock lock(&mutex_);
    return times_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<ServerCall*> kept_;
  Times times_;
  int arrived_ = 0;
};

TEST_P(TimePartsConformanceTest, PartsAreTheServersAndFitTheServiceTime) {
  SlowServer slow;
  const auto server = Serve(slow.handler());
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16, .response_bytes = 100};
  ASSERT_TRUE(client->transport().Start(&call));
  ASSERT_TRUE(client->events().PollUntil([&] { return slow.arrived() == 1; }));
  ClientCall last{.warmup = true, .request_bytes = 16};
  ASSERT_EQ(client->Call(last), "");
  TestEvents& events = client->events();
  ASSERT_TRUE(events.PollUntil([&] { return events.Finished(call); }));
  const SlowServer::Times times = slow.times();
  // The handler ran from its call to the reply, at least.
  EXPECT_GE(call.server_handler_ns, times.replied_ns - times.handled_ns);
  EXPECT_GE(call.server_queue_ns, 0);
  // Nothing is counted twice.
  EXPECT_LE(call.server_queue_ns + call.server_handler_ns, ServiceTimeNs(call));
  EXPECT_LE(call.server_queue_ns, times.handled_ns - call.sent_ns);
  EXPECT_LE(call.server_handler_ns, call.done_ns - times.received_ns);
}

TEST_P(TimePartsConformanceTest, PartsNeverExceedTheServiceTime) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int i = 0; i < 100; ++i) {
    ClientCall call{.request_bytes = 16, .response_bytes = 100};
    ASSERT_EQ(client->Call(call), "");
    ASSERT_GE(call.server_queue_ns, 0);
    ASSERT_GE(call.server_handler_ns, 0);
    ASSERT_LE(call.server_queue_ns + call.server_handler_ns,
              ServiceTimeNs(call));
  }
}

TEST_P(TimePartsConformanceTest, SizesStayExact) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int64_t size : {28, 29, 127, 128, 129, 140, 154, 155, 156, 157, 1000,
                       16384, 65536, 1 << 20}) {
    ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client->Call(call), "") << size;
    EXPECT_EQ(call.received_bytes, size);
  }
}

// Times need room, but a response that is too small for them still arrives.
TEST_P(TimePartsConformanceTest, SmallResponsesHaveTimesToo) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (int64_t size : {0, 1, 2, 13, 16}) {
    ClientCall call{.request_bytes = 16, .response_bytes = size};
    ASSERT_EQ(client->Call(call), "") << size;
    EXPECT_LE(call.received_bytes, 28);
    EXPECT_GE(call.server_queue_ns, 0);
    EXPECT_GE(call.server_handler_ns, 0);
  }
}

TEST_P(TimePartsConformanceTest, ErrorsStillArrive) {
  const auto server = Serve([](Transport& transport, ServerCall* call) {
    call->reply_error = "enough";
    transport.Reply(call);
  });
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client->Call(call), "enough");
}

}  // namespace
}  // namespace distbench::protocol
