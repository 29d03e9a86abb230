// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/grpc_driver.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/testing/driver_testing.h"
#include "gtest/gtest.h"
#include "proto/data_plane.pb.h"

namespace distbench::protocol {
namespace {

// Messages arrive as they were sent, in every threading model.
class GrpcDriverTest : public testing::TestWithParam<Mode> {};

TEST_P(GrpcDriverTest, SizesAreExactInBothDirections) {
  std::atomic<int64_t> request_bytes = 0;
  Service service(GetParam(), [&](Transport& transport, ServerCall* call) {
    request_bytes = call->request_bytes;
    Events::ReplyAsAsked(transport, call);
  });
  Client client(GetParam(), {service.address()});
  constexpr int64_t kMinimumRequest = 9;
  constexpr int64_t kMinimumResponse = 2;
  for (int64_t size :
       {0,      1,     2,     3,     9,      10,      11,
        16,     23,    24,    25,    127,    128,     129,
        130,    131,   137,   138,   139,    140,     196,
        1000,   16384, 16390, 65536, 262144, 1 << 20, (1 << 20) + 1,
        3 << 20}) {
    ClientCall call{.request_bytes = size, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(call.sent_bytes, request_bytes) << size;
    if (size >= kMinimumRequest) {
      EXPECT_EQ(call.sent_bytes, size);
    }
    EXPECT_EQ(call.received_bytes, std::max(size, kMinimumResponse));
  }
}

TEST_P(GrpcDriverTest, HeaderFieldsArrive) {
  LastRequest last;
  Service service(GetParam(), [&](Transport& transport, ServerCall* call) {
    last.Keep(*call);
    call->reply_instance = 11;
    transport.Reply(call);
  });
  Client client(GetParam(), {service.address()});

  TraceContext trace;
  trace.add_engine_ids(4);
  const std::string trace_bytes = trace.SerializeAsString();
  ClientCall call{.rpc_index = 3,
                  .server_instance = 5,
                  .warmup = true,
                  .request_bytes = 100,
                  .response_bytes = 7,
                  .processing_ns = 1234,
                  .trace_context = trace_bytes};
  const int64_t before_ns = base::NowNs();
  ASSERT_EQ(client.Call(call), "");
  const LastRequest::Seen seen = last.Get();
  EXPECT_EQ(seen.call.rpc_index, 3);
  EXPECT_EQ(seen.call.server_instance, 5);
  EXPECT_TRUE(seen.call.warmup);
  EXPECT_EQ(seen.call.request_bytes, 100);
  EXPECT_EQ(seen.call.response_bytes, 7);
  EXPECT_EQ(seen.call.processing_ns, 1234);
  EXPECT_EQ(seen.trace, trace_bytes);
  EXPECT_EQ(call.responding_instance, 11);
  EXPECT_LE(before_ns, call.sent_ns);
  EXPECT_LT(call.sent_ns, seen.call.received_ns);
  EXPECT_LT(seen.call.received_ns, call.done_ns);
  EXPECT_LE(call.done_ns, base::NowNs());

  ClientCall plain{.request_bytes = 100};
  ASSERT_EQ(client.Call(plain), "");
  const LastRequest::Seen seen_plain = last.Get();
  EXPECT_FALSE(seen_plain.call.warmup);
  EXPECT_EQ(seen_plain.call.response_bytes, kServerDecides);
  EXPECT_EQ(seen_plain.trace, "");
}

TEST_P(GrpcDriverTest, ErrorsOfTheReplyArrive) {
  Service service(GetParam(), [](Transport& transport, ServerCall* call) {
    call->reply_error = "Traffic cancelled: enough";
    call->reply_bytes = 1000;
    transport.Reply(call);
  });
  Client client(GetParam(), {service.address()});
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client.Call(call), "Traffic cancelled: enough");
  EXPECT_EQ(call.received_bytes, 1000);
}

TEST_P(GrpcDriverTest, RepliesMayComeLaterAndInAnyOrder) {
  std::vector<ServerCall*> waiting;
  Service service(GetParam(), [&](Transport& transport, ServerCall* call) {
    waiting.push_back(call);
    if (waiting.size() < 3) return;
    while (!waiting.empty()) {
      Events::ReplyAsAsked(transport, waiting.back());
      waiting.pop_back();
    }
  });
  Client client(GetParam(), {service.address()});
  ClientCall calls[3];
  int instance = 0;
  for (ClientCall& call : calls) {
    call.server_instance = instance++;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 3; }));
  for (ClientCall& call : calls) {
    EXPECT_EQ(client.events().error(call), "");
    EXPECT_EQ(call.responding_instance, call.server_instance);
  }
}

TEST_P(GrpcDriverTest, KeepsAHundredInFlight) {
  constexpr int kInFlight = 100;
  constexpr int kTotal = 3000;
  Service service(GetParam());
  Client client(GetParam(), {service.address()});
  std::vector<ClientCall> calls(kInFlight);
  int started = 0;
  int done = 0;
  client.events().on_done = [&](ClientCall* call) {
    ASSERT_EQ(call->error, "");
    ASSERT_EQ(call->received_bytes, 50 + call->server_instance);
    ++done;
    if (started == kTotal) return;
    ++started;
    ASSERT_TRUE(client.transport().Start(call));
  };
  for (ClientCall& call : calls) {
    call.server_instance = started++;
    call.response_bytes = 50 + call.server_instance;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  EXPECT_TRUE(client.events().PollUntil([&] { return done == kTotal; }));
}

TEST_P(GrpcDriverTest, EveryWorkerServesAndCalls) {
  constexpr int kWorkers = 2;
  std::set<const Transport*> servers;
  absl::Mutex mutex;
  Service service(
      GetParam(),
      [&](Transport& transport, ServerCall* call) {
        {
          const absl::MutexLock lock(&mutex);
          servers.insert(&transport);
        }
        Events::ReplyAsAsked(transport, call);
      },
      kWorkers);

  auto driver = MakeDriver(GetParam());
  ASSERT_TRUE(driver->Listen(kWorkers).ok());
  ASSERT_TRUE(
      driver
          ->Connect(SingleServers({service.address(), service.address()}),
                    absl::Now() + absl::Seconds(20))
          .ok());
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&driver, worker] {
      Events events(driver->transport(worker));
      for (int i = 0; i < 500; ++i) {
        ClientCall call{.peer = i % 2, .request_bytes = 64};
        ASSERT_EQ(events.Call(call), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::MutexLock lock(&mutex);
  EXPECT_GE(servers.size(), 1);
  EXPECT_LE(servers.size(), kWorkers);
}

INSTANTIATE_TEST_SUITE_P(AllModes, GrpcDriverTest,
                         testing::ValuesIn(AllModes()), ModeName);

}  // namespace
}  // namespace distbench::protocol
