// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "distbench/products/trace_import/spans/spans.h"
#include "distbench/products/trace_import/traces/call_tree.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr int64_t kMs = 1'000'000;
// Times of spans begin here, in milliseconds.
constexpr int64_t kBeginMs = 1000;

// A span of the trace "t".
Span MakeSpan(const std::string& id, const std::string& parent,
              const std::string& service, SpanKind kind, int64_t start_ms,
              int64_t end_ms) {
  Span span;
  span.trace = "t";
  span.id = id;
  span.parent = parent;
  span.service = service;
  span.operation = "op_" + service;
  span.kind = kind;
  span.start_ns = (kBeginMs + start_ms) * kMs;
  span.end_ns = (kBeginMs + end_ms) * kMs;
  return span;
}

Span Served(const std::string& id, const std::string& parent,
            const std::string& service, int64_t start_ms, int64_t end_ms) {
  return MakeSpan(id, parent, service, SpanKind::kServer, start_ms, end_ms);
}

Span Asked(const std::string& id, const std::string& parent,
           const std::string& service, int64_t start_ms, int64_t end_ms) {
  return MakeSpan(id, parent, service, SpanKind::kClient, start_ms, end_ms);
}

TraceSet Build(std::vector<Span> spans) {
  return BuildTraces({.spans = std::move(spans), .notes = {}});
}

// front asks back, which takes 40 of 50 ms.
TEST(CallTreeTest, TheSpansOfClientAndServerAreOneCall) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Asked("2", "1", "front", 10, 60),
             Served("3", "2", "back", 15, 55)});
  ASSERT_EQ(set.traces, 1);
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 2);
  EXPECT_TRUE(trace[0].is_arrival);
  EXPECT_EQ(trace[0].self_ns, 50 * kMs);
  EXPECT_EQ(trace[1].client(), "front");
  EXPECT_EQ(trace[1].server, "back");
  EXPECT_EQ(trace[1].operation(), "op_back");
  EXPECT_EQ(trace[1].duration_ns(), 50 * kMs);
  EXPECT_EQ(trace[1].served_ns(), 40 * kMs);
  EXPECT_EQ(trace[1].self_ns, 40 * kMs);
  EXPECT_TRUE(set.notes.empty());
}

TEST(CallTreeTest, WorkInsideAServiceIsNoCall) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100),
             MakeSpan("2", "1", "front", SpanKind::kInternal, 10, 60),
             MakeSpan("3", "2", "back", SpanKind::kUnknown, 20, 50)});
  ASSERT_EQ(set.calls.size(), 2);
  EXPECT_EQ(set.calls[1].parent, &set.calls[0]);
  EXPECT_EQ(set.calls[1].server, "back");
}

TEST(CallTreeTest, OverlappingCallsAreWaitedForOnce) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Served("2", "1", "a", 10, 50),
             Served("3", "1", "b", 30, 70)});
  EXPECT_EQ(set.calls[0].self_ns, 40 * kMs);
}

TEST(CallTreeTest, AClientWithoutAServersSpanNamesItsPeer) {
  Span query = Asked("2", "1", "front", 10, 30);
  query.peer = "database";
  const TraceSet set = Build({Served("1", "", "front", 0, 100), query});
  EXPECT_EQ(set.calls[1].server, "database");
  EXPECT_EQ(set.calls[1].server_span, nullptr);
  EXPECT_EQ(set.calls[1].self_ns, 20 * kMs);
}

// As HotROD's client of Redis does.
TEST(CallTreeTest, AClientsSpanMayHaveTheNameOfTheServer) {
  Span query = Asked("2", "1", "redis", 10, 30);
  const TraceSet set = Build({Served("1", "", "front", 0, 100), query});
  EXPECT_EQ(set.calls[1].client(), "front");
  EXPECT_EQ(set.calls[1].server, "redis");
  EXPECT_TRUE(set.calls[1].server_is_inferred);
  query.peer = "database";
  EXPECT_EQ(Build({Served("1", "", "front", 0, 100), query}).calls[1].server,
            "database");
}

// The span of the server in between is missing.
TEST(CallTreeTest, AClientBelowAClientIsNoServer) {
  const TraceSet set =
      Build({Asked("1", "", "front", 0, 100), Asked("2", "1", "back", 10, 30)});
  ASSERT_EQ(set.calls.size(), 2);
  EXPECT_EQ(set.calls[0].server, "back");
  EXPECT_EQ(set.calls[1].server, "unknown_service");
}

TEST(CallTreeTest, ASpanOfTheServerNeedsNoInference) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Asked("2", "1", "redis", 10, 30),
             Served("3", "2", "redis", 12, 28)});
  ASSERT_EQ(set.calls.size(), 2);
  EXPECT_EQ(set.calls[1].server, "redis");
  EXPECT_FALSE(set.calls[1].server_is_inferred);
}

TEST(CallTreeTest, AWrapperIsNoCallOfItsOwn) {
  const TraceSet set =
      Build({Asked("1", "", "front", 0, 100), Asked("2", "1", "front", 5, 95),
             Served("3", "2", "back", 10, 90)});
  ASSERT_EQ(set.calls.size(), 2);
  EXPECT_EQ(set.calls[0].server, "front");
  EXPECT_EQ(set.calls[1].server, "back");
}

TEST(CallTreeTest, ClocksAreRepaired) {
  // back's clock is 500 ms late, and what it calls has the same clock.
  const TraceSet set = Build({Asked("1", "", "front", 0, 100),
                              Served("2", "1", "back", 510, 590),
                              Asked("3", "2", "back", 520, 530)});
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 2);
  EXPECT_EQ(trace[1].outer().start_ns, (kBeginMs + 20) * kMs);
  EXPECT_EQ(trace[0].self_ns, 70 * kMs);
  EXPECT_THAT(set.notes,
              ElementsAre(Pair(testing::HasSubstr("by up to 500.0 ms"), 1)));
}

// back's clock is 9 ms ahead. By chance, its second span is within its client's
// anyway.
TEST(CallTreeTest, APairOfInstancesHasOneClockOffset) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Asked("2", "1", "front", 10, 20),
             Served("3", "2", "back", 21, 27), Asked("4", "3", "back", 22, 24),
             Asked("5", "1", "front", 30, 60), Served("6", "5", "back", 49, 59),
             Asked("7", "6", "back", 52, 55)});
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 5);
  EXPECT_EQ(trace[3].outer().start_ns, (kBeginMs + 13) * kMs);
  EXPECT_EQ(trace[4].outer().start_ns, (kBeginMs + 43) * kMs);
  EXPECT_THAT(set.notes,
              ElementsAre(Pair(testing::HasSubstr("by up to 9.0 ms"), 1)));
}

// Another instance of back has a clock of its own.
TEST(CallTreeTest, OtherInstancesHaveOtherClocks) {
  Span late = Served("3", "2", "back", 521, 527);
  late.instance = "b";
  Span right = Served("5", "4", "back", 33, 53);
  right.instance = "a";
  Span right_calls = Asked("6", "5", "back", 35, 36);
  right_calls.instance = "a";
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Asked("2", "1", "front", 10, 20),
             late, Asked("4", "1", "front", 30, 60), right, right_calls});
  ASSERT_EQ(set.calls.size(), 4);
  EXPECT_EQ(set.calls[3].outer().start_ns, (kBeginMs + 35) * kMs);
  EXPECT_THAT(set.notes,
              ElementsAre(Pair(testing::HasSubstr("by up to 509.0 ms"), 1)));
}

// Of four clients, one has given up; the network is not symmetric.
TEST(CallTreeTest, ClocksThatMostSpansFitAreLeft) {
  std::vector<Span> spans = {Served("0", "", "front", 0, 100)};
  for (int i = 0; i < 4; ++i) {
    const int64_t start_ms = 20 * i;
    const std::string id = std::to_string(i);
    spans.push_back(Asked("c" + id, "0", "front", start_ms, start_ms + 10));
    spans.push_back(Served("s" + id, "c" + id, "back", start_ms + 6,
                           start_ms + (i == 3 ? 30 : 10)));
    spans.push_back(
        Asked("q" + id, "s" + id, "back", start_ms + 7, start_ms + 8));
  }
  const TraceSet set = Build(spans);
  ASSERT_EQ(set.calls.size(), 9);
  for (size_t i = 5; i < 9; ++i) {
    EXPECT_EQ(set.calls[i].outer().start_ns,
              (kBeginMs + 20 * static_cast<int64_t>(i - 5) + 7) * kMs);
  }
  EXPECT_THAT(set.notes,
              ElementsAre(Pair(testing::HasSubstr("not within those"), 1)));
}

// Without spans of clients, all that is known is that causes come first.
TEST(CallTreeTest, SpansOfServersAloneAreMovedToTheirCause) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100), Served("2", "1", "back", -5, 5),
             Served("3", "1", "back", 20, 30)});
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 3);
  EXPECT_EQ(trace[1].outer().start_ns, kBeginMs * kMs);
  EXPECT_EQ(trace[2].outer().start_ns, (kBeginMs + 25) * kMs);
}

// A consumer that begins late says nothing about clocks.
TEST(CallTreeTest, MessagesAreNotWaitedForAndMoveNoClock) {
  const TraceSet set =
      Build({Served("1", "", "front", 0, 100),
             MakeSpan("2", "1", "front", SpanKind::kProducer, 10, 15),
             MakeSpan("3", "2", "back", SpanKind::kConsumer, 500, 501),
             MakeSpan("4", "3", "back", SpanKind::kInternal, 502, 560),
             Asked("5", "4", "back", 510, 540)});
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 3);
  EXPECT_EQ(trace[0].self_ns, 100 * kMs);
  EXPECT_TRUE(trace[1].is_async);
  EXPECT_EQ(trace[1].outer().start_ns, (kBeginMs + 10) * kMs);
  // The consumer's span is only of taking the message; its work follows.
  EXPECT_EQ(trace[1].served_ns(), 60 * kMs);
  EXPECT_EQ(trace[1].self_ns, 30 * kMs);
  EXPECT_FALSE(trace[2].is_async);
  EXPECT_EQ(trace[2].outer().start_ns, (kBeginMs + 510) * kMs);
  EXPECT_THAT(set.notes,
              ElementsAre(Pair(testing::HasSubstr("are messages"), 1)));
}

// Even if its producer is not in the traces. What it calls is waited for.
TEST(CallTreeTest, ConsumersWorkBelowTheirSpans) {
  const TraceSet set =
      Build({MakeSpan("1", "", "back", SpanKind::kConsumer, 0, 1),
             MakeSpan("2", "1", "back", SpanKind::kInternal, 5, 60),
             Asked("3", "2", "back", 10, 40)});
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 2);
  EXPECT_EQ(trace[0].served_ns(), 60 * kMs);
  EXPECT_EQ(trace[0].self_ns, 30 * kMs);
  EXPECT_FALSE(trace[1].is_async);
  EXPECT_TRUE(set.notes.empty());
}

TEST(CallTreeTest, PartsOfTracesAreNoArrivals) {
  const TraceSet set = Build({Served("1", "", "front", 0, 100),
                              Served("2", "missing", "back", 20, 30)});
  ASSERT_EQ(set.calls.size(), 2);
  EXPECT_TRUE(set.calls[0].is_arrival);
  EXPECT_FALSE(set.calls[1].is_arrival);
  EXPECT_EQ(set.calls[1].parent, nullptr);
  EXPECT_EQ(set.notes.size(), 1);
}

TEST(CallTreeTest, TheFirstPartStandsForAMissingRoot) {
  const TraceSet set = Build({Served("2", "missing", "back", 20, 30),
                              Served("1", "missing", "front", 0, 100)});
  EXPECT_EQ(set.calls[0].server, "front");
  EXPECT_TRUE(set.calls[0].is_arrival);
  EXPECT_FALSE(set.calls[1].is_arrival);
}

TEST(CallTreeTest, CirclesAndDuplicatesAreCut) {
  const TraceSet set =
      Build({Served("1", "2", "a", 0, 100), Served("2", "1", "b", 10, 50),
             Served("3", "3", "c", 0, 1), Served("3", "3", "c", 0, 1)});
  ASSERT_EQ(set.calls.size(), 3);
  EXPECT_EQ(set.calls[0].server, "a");
  EXPECT_EQ(set.calls[1].server, "b");
  EXPECT_EQ(set.calls[1].parent, &set.calls[0]);
  EXPECT_EQ(set.notes.at("circles of spans that cause one another were cut"),
            2);
  EXPECT_EQ(set.notes.at("spans with the id of another one were left out"), 1);
}

// The earliest is cut, though it is below the circle and not of it.
TEST(CallTreeTest, WhatIsCutIsNoLongerBelowItsCause) {
  const TraceSet set =
      Build({Served("1", "2", "a", 10, 100), Served("2", "1", "b", 20, 50),
             Served("3", "1", "c", 0, 5)});
  ASSERT_EQ(set.calls.size(), 3);
  EXPECT_EQ(set.calls[0].server, "c");
  EXPECT_EQ(set.calls[0].parent, nullptr);
  EXPECT_EQ(set.calls[1].server, "a");
  EXPECT_THAT(set.calls[1].children, ElementsAre(&set.calls[2]));
  EXPECT_TRUE(set.calls[2].children.empty());
}

// Zipkin's client and server share the id 1, which is also that of what caused
// the server's work. Its spans may come before those of the client.
TEST(CallTreeTest, WorkBelowASharedIdIsTheServers) {
  SpanSet spans;
  for (const char* file :
       {R"([{"traceId": "a", "id": "2", "parentId": "1", "name": "render",
             "timestamp": 1020, "duration": 10,
             "localEndpoint": {"serviceName": "back"}},
            {"traceId": "a", "id": "3", "parentId": "1", "name": "find",
             "kind": "CLIENT", "timestamp": 1040, "duration": 20,
             "localEndpoint": {"serviceName": "back"},
             "remoteEndpoint": {"serviceName": "database"}}])",
        R"([{"traceId": "a", "id": "1", "kind": "CLIENT", "name": "get",
             "timestamp": 1000, "duration": 80,
             "localEndpoint": {"serviceName": "front"}},
            {"traceId": "a", "id": "1", "shared": true, "kind": "SERVER",
             "name": "get", "timestamp": 1010, "duration": 60,
             "localEndpoint": {"serviceName": "back"}}])"}) {
    ASSERT_TRUE(ReadSpans("zipkin", "file", file, 100, spans).ok());
  }
  const TraceSet set = BuildTraces(std::move(spans));
  ASSERT_EQ(set.traces, 1);
  const std::deque<TracedCall>& trace = set.calls;
  ASSERT_EQ(trace.size(), 2);
  EXPECT_TRUE(trace[0].is_arrival);
  EXPECT_EQ(trace[0].server, "back");
  EXPECT_EQ(trace[0].self_ns, 40'000);
  EXPECT_EQ(trace[1].server, "database");
  EXPECT_EQ(trace[1].parent, &trace[0]);
  EXPECT_TRUE(set.notes.empty());
}

// A trace of its own, which arrives at a time.
std::vector<Span> MakeTrace(int number, int64_t start_ms,
                            std::vector<Span> spans) {
  for (Span& span : spans) {
    span.trace = std::to_string(number);
    span.start_ns += start_ms * kMs;
    span.end_ns += start_ms * kMs;
  }
  return spans;
}

TrafficModel Infer(const std::vector<std::vector<Span>>& traces,
                   const InferenceOptions& options = {}) {
  std::vector<Span> spans;
  for (const auto& trace : traces) {
    spans.insert(spans.end(), trace.begin(), trace.end());
  }
  return InferTraffic(Build(std::move(spans)), options);
}

const RpcModel& RpcOf(const TrafficModel& model, const std::string& server) {
  for (const RpcModel& rpc : model.rpcs) {
    if (rpc.server == server) return rpc;
  }
  ADD_FAILURE() << server;
  return model.rpcs.at(0);
}

// Half of the requests call twice a in turn, all then call b and c at once.
TEST(TrafficModelTest, CallsAreCountedAndOrdered) {
  std::vector<std::vector<Span>> traces;
  for (int i = 0; i < 10; ++i) {
    std::vector<Span> spans = {Served("0", "", "front", 0, 100),
                               Served("3", "0", "b", 50, 70),
                               Served("4", "0", "c", 55, 65)};
    if (i % 2 == 0) {
      spans.push_back(Served("1", "0", "a", 10, 20));
      spans.push_back(Served("2", "0", "a", 20, 30));
    }
    traces.push_back(MakeTrace(i, 100 * i, spans));
  }
  const TrafficModel model = Infer(traces);
  const RpcModel& front = RpcOf(model, "front");
  ASSERT_EQ(front.groups.size(), 3);
  EXPECT_EQ(model.rpcs[front.groups[0].rpc].server, "a");
  EXPECT_THAT(front.groups[0].counts, ElementsAre(Pair(0, 5), Pair(2, 5)));
  EXPECT_FALSE(front.groups[0].is_parallel);
  EXPECT_THAT(front.groups[1].counts, ElementsAre(Pair(1, 10)));
  EXPECT_THAT(front.groups[1].after, ElementsAre(0));
  EXPECT_THAT(front.groups[2].after, ElementsAre(0));
  EXPECT_EQ(model.depths[0], 2);
  EXPECT_EQ(model.sizes[0], 5);
}

TEST(TrafficModelTest, OverlappingCallsOfOneRpcAreParallel) {
  const TrafficModel model = Infer({MakeTrace(
      1, 0,
      {Served("0", "", "front", 0, 100), Served("1", "0", "a", 10, 40),
       Served("2", "0", "a", 15, 45), Served("3", "0", "a", 20, 50)})});
  EXPECT_TRUE(RpcOf(model, "front").groups.at(0).is_parallel);
}

TEST(TrafficModelTest, RegularArrivalsAreConstant) {
  std::vector<std::vector<Span>> traces;
  for (int i = 0; i < 50; ++i) {
    traces.push_back(MakeTrace(i, 20 * i, {Served("0", "", "front", 0, 1)}));
  }
  const TrafficModel model = Infer(traces);
  ASSERT_EQ(model.arrivals.size(), 1);
  EXPECT_EQ(model.arrivals[0].process, ArrivalModel::Process::kConstant);
  EXPECT_NEAR(model.arrivals[0].rate_per_second, 50, 1e-6);
  EXPECT_EQ(model.arrivals[0].client, "users");
  traces.resize(5);
  EXPECT_EQ(Infer(traces).arrivals[0].process, ArrivalModel::Process::kFew);
}

TEST(TrafficModelTest, ArrivalsInGroupsAreBursty) {
  std::vector<std::vector<Span>> traces;
  for (int i = 0; i < 100; ++i) {
    traces.push_back(
        MakeTrace(i, i / 10 * 1000 + i % 10, {Served("0", "", "a", 0, 1)}));
  }
  EXPECT_EQ(Infer(traces).arrivals[0].process, ArrivalModel::Process::kBursty);
}

const ArrivalModel& ArrivalsAt(const TrafficModel& model,
                               const std::string& server) {
  for (const ArrivalModel& arrival : model.arrivals) {
    if (model.rpcs[arrival.rpc].server == server) return arrival;
  }
  ADD_FAILURE() << server;
  return model.arrivals.at(0);
}

// However near the requests of one RPC are to one another.
TEST(TrafficModelTest, RatesAreOverTheTimeOfAllTraces) {
  std::vector<std::vector<Span>> traces;
  for (int i = 0; i < 100; ++i) {
    traces.push_back(MakeTrace(i, 1000 * i, {Served("0", "", "a", 0, 1)}));
  }
  traces.push_back(MakeTrace(100, 10'000, {Served("0", "", "b", 0, 1)}));
  traces.push_back(MakeTrace(101, 20'000, {Served("0", "", "c", 0, 1)}));
  traces.push_back(MakeTrace(102, 20'001, {Served("0", "", "c", 0, 1)}));
  const TrafficModel model = Infer(traces);
  EXPECT_NEAR(ArrivalsAt(model, "b").rate_per_second, 1.0 / 99, 2e-4);
  EXPECT_NEAR(ArrivalsAt(model, "c").rate_per_second, 2.0 / 99, 4e-4);
  EXPECT_EQ(ArrivalsAt(model, "c").process, ArrivalModel::Process::kFew);
  double sum = 0;
  for (const ArrivalModel& arrival : model.arrivals) {
    sum += arrival.rate_per_second;
  }
  EXPECT_NEAR(sum, 102.0 / 99, 1e-9);
}

TEST(TrafficModelTest, RequestsOfOneMomentHaveNoRate) {
  const TrafficModel model =
      Infer({MakeTrace(1, 0, {Served("0", "", "a", 0, 1)}),
             MakeTrace(2, 0, {Served("0", "", "b", 0, 1)})});
  EXPECT_EQ(ArrivalsAt(model, "a").rate_per_second, 0);
  EXPECT_EQ(ArrivalsAt(model, "b").rate_per_second, 0);
}

TEST(TrafficModelTest, FailedExecutionsMayBeLeftOut) {
  Span failed = Served("0", "", "front", 0, 2);
  failed.failed = true;
  const std::vector<std::vector<Span>> traces = {
      MakeTrace(
          1, 0,
          {Served("0", "", "front", 0, 100), Served("1", "0", "back", 10, 20)}),
      MakeTrace(2, 500, {failed})};
  const TrafficModel all = Infer(traces);
  EXPECT_THAT(RpcOf(all, "front").server_ns, ElementsAre(100 * kMs, 2 * kMs));
  EXPECT_THAT(RpcOf(all, "front").groups.at(0).counts,
              ElementsAre(Pair(0, 1), Pair(1, 1)));
  const TrafficModel successes = Infer(traces, {.only_successes = true});
  const RpcModel& front = RpcOf(successes, "front");
  EXPECT_EQ(front.calls, 2);
  EXPECT_EQ(front.failures, 1);
  EXPECT_EQ(front.failed_ns, 2 * kMs);
  EXPECT_THAT(front.server_ns, ElementsAre(100 * kMs));
  EXPECT_THAT(front.groups.at(0).counts, ElementsAre(Pair(1, 1)));
}

TEST(TrafficModelTest, CallsThatTheServerDidNotRecordDoNotCount) {
  Span unrecorded = Asked("9", "", "front", 0, 50);
  unrecorded.peer = "a";
  unrecorded.operation = "op_a";
  const TrafficModel model = Infer(
      {MakeTrace(1, 0,
                 {Asked("0", "", "front", 0, 100), Served("1", "0", "a", 5, 95),
                  Served("2", "1", "b", 10, 20)}),
       MakeTrace(2, 9, {unrecorded})});
  const RpcModel& rpc = RpcOf(model, "a");
  EXPECT_EQ(rpc.calls, 2);
  EXPECT_THAT(rpc.groups.at(0).counts, ElementsAre(Pair(1, 1)));
  EXPECT_THAT(rpc.self_ns, ElementsAre(80 * kMs));
}

}  // namespace
}  // namespace distbench::trace_import
