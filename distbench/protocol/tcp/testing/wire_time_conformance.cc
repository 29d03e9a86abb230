// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/testing/wire_time_conformance.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <string>

#include "distbench/base/clock.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr int64_t kMs = 1'000'000;

int64_t ServiceTimeNs(const ClientCall& call) {
  return call.done_ns - call.sent_ns;
}

// That it is stamped, within its service time.
void ExpectWireTime(const ClientCall& call) {
  EXPECT_GT(call.wire_ns, 0);
  EXPECT_LE(call.wire_ns, ServiceTimeNs(call));
}

void SpinUntil(int64_t end_ns) {
  while (base::NowNs() < end_ns) continue;
}

TEST_P(WireTimeConformanceTest, EachOfOneCallAtATimeIsStamped) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  for (const int64_t bytes : {16, 1000, 20'000, 300'000}) {
    for (int i = 0; i < 20; ++i) {
      ClientCall call{.request_bytes = bytes, .response_bytes = bytes / 2};
      ASSERT_EQ(client->Call(call), "");
      ExpectWireTime(call);
      EXPECT_FALSE(call.wire_shared);
    }
  }
}

TEST_P(WireTimeConformanceTest, SoAreCallsAtTheSameTime) {
  const auto server = Serve();
  const auto client = ConnectTo({server->address()});
  TestEvents& events = client->events();
  std::list<ClientCall> calls;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 10; ++j) {
      calls.push_back({.request_bytes = 16, .response_bytes = 16});
      ASSERT_TRUE(client->transport().Start(&calls.back()));
    }
    ASSERT_TRUE(events.PollUntil(
        [&] { return events.finished_count() == calls.size(); }));
  }
  for (const ClientCall& call : calls) {
    EXPECT_EQ(events.error(call), "");
    ExpectWireTime(call);
  }
}

// A server that answers only once the client has stopped polling.
TEST_P(WireTimeConformanceTest, TheClientsOwnWaitsAreNotOnTheWire) {
  std::atomic<bool> has_arrived = false;
  std::atomic<bool> client_waits = false;
  std::atomic<int64_t> replied_ns = 0;
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    has_arrived = true;
    while (!client_waits) continue;
    TestEvents::ReplyAsAsked(transport, call);
    replied_ns = base::NowNs();
  });
  const auto client = ConnectTo({server->address()});
  TestEvents& events = client->events();
  std::list<ClientCall> calls;
  // The server may be kept from writing for as long as the client waits.
  for (int i = 0; i < 100; ++i) {
    has_arrived = client_waits = false;
    replied_ns = 0;
    ClientCall& call = calls.emplace_back();
    call.request_bytes = call.response_bytes = 16;
    ASSERT_TRUE(client->transport().Start(&call));
    EXPECT_TRUE(events.PollUntil([&] { return has_arrived.load(); }));
    client_waits = true;
    while (replied_ns == 0) continue;
    SpinUntil(replied_ns + 20 * kMs);
    ASSERT_TRUE(events.PollUntil([&] { return events.Finished(call); }));
    ExpectWireTime(call);
    if (call.wire_ns < ServiceTimeNs(call) - 10 * kMs) return;
  }
  FAIL() << "wire times contain what the client has waited";
}

TEST_P(WireTimeConformanceTest, TheServersWaitsAreBetweenTheStamps) {
  const auto server = Serve([&](Transport& transport, ServerCall* call) {
    SpinUntil(base::NowNs() + 5 * kMs);
    TestEvents::ReplyAsAsked(transport, call);
  });
  const auto client = ConnectTo({server->address()});
  ClientCall call{.request_bytes = 16, .response_bytes = 16};
  ASSERT_EQ(client->Call(call), "");
  ExpectWireTime(call);
  EXPECT_GE(call.wire_ns, 5 * kMs);
}

TEST_P(WireTimeConformanceTest, CallsAfterOneThatWasGivenUpAreStamped) {
  LateServer late;
  const auto server = Serve(late.handler());
  const auto client = ConnectTo({server->address()});
  TestEvents& events = client->events();
  ClientCall given_up{.request_bytes = 16};
  ASSERT_TRUE(client->transport().Start(&given_up));
  ASSERT_TRUE(events.PollUntil([&] { return late.arrived() == 1; }));
  ASSERT_TRUE(client->transport().Cancel(given_up));
  ASSERT_TRUE(events.PollUntil([&] { return events.Finished(given_up); }));
  // Its late reply may be read together with that of this one.
  for (int i = 0; i < 3; ++i) {
    ClientCall call{.warmup = true, .request_bytes = 16};
    ASSERT_EQ(client->Call(call), "");
    ExpectWireTime(call);
  }
}

TEST_P(WireTimeConformanceTest, CallsOverANewConnectionAreStamped) {
  const auto server = Serve([](Transport& transport, ServerCall* call) {
    if (call->warmup) transport.BreakConnections();
    TestEvents::ReplyAsAsked(transport, call);
  });
  const auto client = ConnectTo({server->address()});
  for (int i = 0; i < 3; ++i) {
    ClientCall last{.warmup = true, .request_bytes = 16};
    EXPECT_NE(client->Call(last), "");
    // Of several connections, others may be the next ones; all are made anew.
    for (int j = 0; j < 6; ++j) {
      ClientCall call{.request_bytes = 16, .response_bytes = 16};
      if (client->Call(call) == "") ExpectWireTime(call);
    }
  }
}

}  // namespace
}  // namespace distbench::protocol
