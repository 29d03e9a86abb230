// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/fidelity.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/products/trace_import/import_traces.h"
#include "distbench/products/trace_import/testing/import_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The trace has the shape of HotROD's, with other numbers: a client's spans
// have the name of the server, two of ten calls fail after 20 ms, and the
// others take 7.5 ms on average.
Import ImportRides(bool with_failures) {
  const absl::StatusOr<std::string> input =
      base::ReadFile("tests/corpus/traces/otlp_client_with_servers_name");
  EXPECT_TRUE(input.ok()) << input.status();
  ImportOptions options;
  options.measure_fidelity = true;
  options.with_failures = with_failures;
  return ImportOf("otlp", input->substr(1), options);
}

// The same, once for all tests.
const Import& ImportedRides(bool with_failures) {
  static const auto* const kWithout = new Import(ImportRides(false));
  static const auto* const kWith = new Import(ImportRides(true));
  return with_failures ? *kWith : *kWithout;
}

const RpcFidelity& FidelityOf(const Import& import, const std::string& rpc) {
  for (const RpcFidelity& fidelity : import.fidelity->rpcs) {
    if (fidelity.rpc == rpc) return fidelity;
  }
  ADD_FAILURE() << rpc;
  return import.fidelity->rpcs.at(0);
}

TEST(FidelityTest, ServersAreInferredFromTheirClients) {
  const Import& import = ImportedRides(/*with_failures=*/false);
  const DistributedSystemDescription test = TestOf(import.config.text);
  EXPECT_EQ(RpcNamed(test, "GetRide").server(), "store-manual");
  EXPECT_THAT(RpcNamed(test, "GetRide").client(), ElementsAre("rides"));
  EXPECT_EQ(RpcNamed(test, "rides.Rides_Nearest").server(), "rides");
  EXPECT_THAT(ImportText(import), HasSubstr("the servers of 1 RPC"));
}

TEST(FidelityTest, OneTraceIsSimulatedOftenAndNotJudged) {
  const Import& import = ImportedRides(/*with_failures=*/false);
  const Fidelity& fidelity = *import.fidelity;
  EXPECT_GT(fidelity.simulated.arrivals, 2500);
  EXPECT_LT(fidelity.simulated.arrivals, 3500);
  EXPECT_FALSE(fidelity.traces.arrivals_per_second.has_value());
  EXPECT_FALSE(fidelity.size_distance.has_value());
  const RpcFidelity& get = FidelityOf(import, "GetRide");
  EXPECT_FALSE(get.latency_distance.has_value());
  EXPECT_EQ(get.simulated.calls_per_arrival, 10);
  EXPECT_NEAR(get.simulated.mean_us / get.traces.mean_us, 1, 0.02);
  EXPECT_THAT(ImportText(import),
              HasSubstr("GetRide: too few calls to compare ("));
  EXPECT_THAT(ImportText(import), HasSubstr("which have no rate"));
  const auto json = nlohmann::json::parse(ImportJson(import));
  EXPECT_TRUE(json["fidelity"]["arrivals_per_second"]["traces"].is_null());
}

TEST(FidelityTest, FailuresAreOnlySaid) {
  const Import& import = ImportedRides(/*with_failures=*/false);
  EXPECT_EQ(import.config.test.server_faults_size(), 0);
  EXPECT_THAT(import.config.text,
              HasSubstr("10 calls, 2 of them failed, after 20500.0 us"));
  EXPECT_THAT(ImportText(import),
              HasSubstr("2 failures, which the config does not repeat; "
                        "--failures"));
  EXPECT_EQ(FidelityOf(import, "GetRide").simulated.failed_share, 0);
}

TEST(FidelityTest, FailuresBecomeFaults) {
  const Import& import = ImportedRides(/*with_failures=*/true);
  const DistributedSystemDescription test = TestOf(import.config.text);
  ASSERT_EQ(test.server_faults_size(), 1);
  const ServerFault& fault = test.server_faults(0);
  EXPECT_EQ(fault.service(), "store-manual");
  EXPECT_EQ(fault.rpc_name(), "GetRide");
  EXPECT_EQ(fault.error_code(), "UNAVAILABLE");
  EXPECT_EQ(fault.probability(), 0.2);
  EXPECT_THAT(ImportText(import), HasSubstr("retries cannot be known"));
  EXPECT_THAT(ImportText(import), HasSubstr(" %, traces 20.0 %"));

  // The failed calls, too, are 10 of an arrival; times are of the others.
  const RpcFidelity& get = FidelityOf(import, "GetRide");
  EXPECT_EQ(get.traces.failed_share, 0.2);
  EXPECT_NEAR(get.simulated.failed_share, 0.2,
              4 * std::sqrt(0.2 * 0.8 / 30'000));
  EXPECT_EQ(get.simulated.calls_per_arrival, 10);
  EXPECT_NEAR(get.traces.mean_us, 7500, 1e-6);
  EXPECT_NEAR(get.simulated.mean_us, 7500, 75);
}

// All clients together make as many requests.
TEST(FidelityTest, FidelityCountsTheArrivalsOfAllInstances) {
  std::string text =
      "trace,span,parent,service,operation,start_ns,duration_ns,kind,instance,"
      "peer\n";
  for (int i = 0; i < 40; ++i) {
    text += absl::StrCat(i, ",1,,front,look,", 1'000'000'000LL * i,
                         ",90000,client,", i % 10, ",back\n");
  }
  ImportOptions options;
  options.measure_fidelity = true;
  const Import import = ImportOf("csv", text, options);
  // In turn, not all at once.
  EXPECT_THAT(import.config.text,
              HasSubstr("open_loop_interval_ns: 10000000000"));
  EXPECT_THAT(import.config.text, HasSubstr("process: \"constant\""));
  EXPECT_THAT(import.config.text, HasSubstr("client_phase: \"spread\""));
  EXPECT_NEAR(import.fidelity->simulated.arrivals, 3000, 30);
  EXPECT_NEAR(*import.fidelity->traces.arrivals_per_second, 1, 1e-9);
  EXPECT_NEAR(import.fidelity->rpcs.at(0).latency_distance.value(), 0, 1e-6);
}

// 150 operations are 100, and one that stands for the others.
TEST(FidelityTest, RareOperationsAreSimulatedAsOne) {
  std::string text =
      "trace,span,parent,service,operation,start_ns,duration_ns,kind\n";
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&text, i, ",1,,s,op", i % 150, ",", 1'000'000LL * i,
                    ",90000,server\n");
  }
  ImportOptions options;
  options.measure_fidelity = true;
  for (const bool hide_names : {false, true}) {
    options.naming.hide_names = hide_names;
    const Import import = ImportOf("csv", text, options);
    ASSERT_EQ(import.fidelity->rpcs.size(), 101);
    for (const RpcFidelity& rpc : import.fidelity->rpcs) {
      EXPECT_GT(rpc.simulated.measured, 0) << rpc.rpc;
    }
  }
}

constexpr char kSpanColumns[] =
    "trace,span,parent,service,operation,start_ns,duration_ns,kind\n";

Import ImportForFidelity(const std::string& format, const std::string& text) {
  ImportOptions options;
  options.measure_fidelity = true;
  return ImportOf(format, text, options);
}

// A request asks the cache (2 ms), sends a message (1 ms), asks the cache again
// (3 ms) and works for 4 ms. The consumer begins 40 ms later and works for
// 50 ms.
TEST(FidelityTest, ProducersDoNotWaitForConsumers) {
  const Import import = ImportForFidelity(
      "csv", absl::StrCat(kSpanColumns,
                          "t,1,,front,buy,1000000000,10000000,server\n"
                          "t,2,1,front,get,1001000000,2000000,client\n"
                          "t,3,2,cache,get,1001000000,2000000,server\n"
                          "t,4,1,front,send,1004000000,1000000,producer\n"
                          "t,5,4,mailer,mail,1045000000,50000000,consumer\n"
                          "t,6,1,front,put,1006000000,3000000,client\n"
                          "t,7,6,cache,put,1006000000,3000000,server\n"));
  EXPECT_THAT(ImportText(import), Not(HasSubstr("clock")));
  EXPECT_THAT(ImportText(import), HasSubstr("1 time: calls are messages"));
  const RpcFidelity& buy = FidelityOf(import, "buy");
  EXPECT_NEAR(buy.traces.mean_us, 10'000, 1e-6);
  EXPECT_NEAR(buy.simulated.mean_us, 10'000, 10);
  const RpcFidelity& mail = FidelityOf(import, "mail");
  EXPECT_NEAR(mail.simulated.mean_us, 50'000, 50);
  EXPECT_EQ(mail.simulated.calls_per_arrival, 1);

  const DistributedSystemDescription test = TestOf(import.config.text);
  EXPECT_THAT(ActionNamed(test, "buy.calls.mail").dependencies(),
              ElementsAre("buy.work", "buy.calls.get"));
  EXPECT_THAT(ActionNamed(test, "buy.calls.put").dependencies(),
              ElementsAre("buy.work", "buy.calls.get"));
  const Action& answer = ActionNamed(test, "buy.answer");
  EXPECT_TRUE(answer.send_response_when_done());
  EXPECT_THAT(answer.dependencies(),
              ElementsAre("buy.work", "buy.calls.get", "buy.calls.put"));
}

// Neither does the first of several messages delay the second one.
TEST(FidelityTest, MessagesAreSentAtOnce) {
  std::string text = kSpanColumns;
  for (int i = 0; i < 30; ++i) {
    const auto add = [&](const char* ids, int start_ms, const char* rest) {
      absl::StrAppend(&text, i, ",", ids, ",", 1000 * i + start_ms, "000000,",
                      rest, "\n");
    };
    add("1,,front,buy", 1, "10000000,server");
    for (int message = 0; message < i % 2 * 3; ++message) {
      const std::string id = absl::StrCat("p", message);
      add(absl::StrCat(id, ",1,front,send").c_str(), 2 + 2 * message,
          "1000000,producer");
      add(absl::StrCat("c", message, ",", id, ",mailer,mail").c_str(), 100,
          "50000000,consumer");
    }
  }
  const Import import = ImportForFidelity("csv", text);
  EXPECT_NEAR(FidelityOf(import, "buy").simulated.mean_us, 10'000, 10);
  const Iterations& mails =
      ActionNamed(import.config.test, "buy.calls.mail.not_0").iterations();
  EXPECT_EQ(mails.max_iteration_count(), 3);
  EXPECT_EQ(mails.max_parallel_iterations(), 3);
}

// The consumer has a trace of its own, and ids are those of their traces.
TEST(FidelityTest, SpanLinksLeadToTheirProducers) {
  const Import import = ImportForFidelity("otlp", R"({"resourceSpans": [
    {"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "front"}}]},
     "scopeSpans": [{"spans": [
        {"traceId": "a", "spanId": "1", "name": "buy", "kind": 2,
         "startTimeUnixNano": "1000000", "endTimeUnixNano": "11000000"},
        {"traceId": "a", "spanId": "2", "parentSpanId": "1", "name": "send",
         "kind": "SPAN_KIND_PRODUCER", "startTimeUnixNano": "2000000",
         "endTimeUnixNano": "3000000"}]}]},
    {"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "mailer"}}]},
     "scopeSpans": [{"spans": [
        {"traceId": "b", "spanId": "1", "name": "mail", "kind": 5,
         "startTimeUnixNano": "40000000", "endTimeUnixNano": "90000000",
         "links": [{"traceId": "unknown", "spanId": "7"},
                   {"traceId": "a", "spanId": "2"}]},
        {"traceId": "b", "spanId": "2", "parentSpanId": "1", "name": "store",
         "kind": 3, "startTimeUnixNano": "50000000",
         "endTimeUnixNano": "60000000", "attributes": [
            {"key": "db.system", "value": {"stringValue": "sql"}}]}]}]}]})");
  EXPECT_EQ(import.model.traces, 1);
  EXPECT_EQ(import.model.arrivals.size(), 1);
  EXPECT_THAT(RpcNamed(import.config.test, "mail").client(),
              ElementsAre("front"));
  EXPECT_THAT(RpcNamed(import.config.test, "store").client(),
              ElementsAre("mailer"));
  EXPECT_THAT(ImportText(import), HasSubstr("1 time: calls are messages"));
  EXPECT_NEAR(FidelityOf(import, "buy").simulated.mean_us, 10'000, 10);
  EXPECT_NEAR(FidelityOf(import, "mail").simulated.mean_us, 50'000, 50);
}

// Jaeger's audit and what it calls go on when buy has been answered.
TEST(FidelityTest, NobodyWaitsForWhatFollows) {
  const Import import = ImportForFidelity("jaeger", R"({"data": [{"spans": [
    {"traceID": "a", "spanID": "1", "operationName": "buy", "processID": "p",
     "startTime": 1000, "duration": 10000,
     "tags": [{"key": "span.kind", "value": "server"}]},
    {"traceID": "a", "spanID": "2", "operationName": "audit",
     "processID": "p", "startTime": 3000, "duration": 60000,
     "references": [{"refType": "FOLLOWS_FROM", "traceID": "a",
                     "spanID": "1"}]},
    {"traceID": "a", "spanID": "3", "operationName": "write",
     "processID": "p", "startTime": 5000, "duration": 50000,
     "references": [{"refType": "CHILD_OF", "traceID": "a", "spanID": "2"}],
     "tags": [{"key": "span.kind", "value": "client"},
              {"key": "peer.service", "value": "log"}]}],
    "processes": {"p": {"serviceName": "front"}}}]})");
  EXPECT_THAT(ImportText(import), HasSubstr("1 time: calls are messages"));
  EXPECT_NEAR(FidelityOf(import, "buy").simulated.mean_us, 10'000, 10);
  EXPECT_NEAR(FidelityOf(import, "write").simulated.mean_us, 50'000, 50);
}

// Though no span says that nobody waits.
TEST(FidelityTest, CallsAfterTheAnswerAreNotWaitedFor) {
  const Import import = ImportForFidelity(
      "csv", absl::StrCat(kSpanColumns,
                          "t,1,,front,buy,1000000000,10000000,server\n"
                          "t,2,1,front,tell,1009000000,30000000,client\n"
                          "t,3,2,log,tell,1010000000,20000000,server\n"));
  EXPECT_THAT(ImportText(import), HasSubstr("1 time: calls went on"));
  EXPECT_NEAR(FidelityOf(import, "buy").simulated.mean_us, 10'000, 10);
}

// A page and what its script asks for later, as servers saw them.
TEST(FidelityTest, WhatABrowserAsksForLaterIsNotWaitedFor) {
  const Import import = ImportForFidelity(
      "csv", absl::StrCat(kSpanColumns,
                          "t,1,,shop,page,1000000000,10000000,server\n"
                          "t,2,1,shop,stock,1500000000,20000000,server\n"
                          "t,3,1,images,photo,1700000000,30000000,server\n"));
  EXPECT_THAT(ImportText(import), HasSubstr("2 times: calls went on"));
  EXPECT_NEAR(FidelityOf(import, "page").simulated.mean_us, 10'000, 10);
  EXPECT_NEAR(FidelityOf(import, "photo").simulated.calls_per_arrival, 1, 0.01);
}

using Values = std::vector<int64_t>;

TEST(SamplesTest, LikeSamplesHaveNoDistance) {
  EXPECT_EQ(RelativeDistance({1, 2, 2, 9}, {1, 2, 2, 9}), 0);
  EXPECT_NEAR(RelativeDistance({1, 3}, {1, 1, 3, 3}), 0, 1e-12);
}

// Kolmogorov's distance of these is 1.
TEST(SamplesTest, RoundingIsNoDistance) {
  EXPECT_LT(RelativeDistance(Values(50, 267'037'000), Values(70, 267'037'001)),
            1e-8);
}

TEST(SamplesTest, TheDistanceIsRelativeToTheFirstMean) {
  EXPECT_NEAR(RelativeDistance({10}, {15, 15}), 0.5, 1e-12);
  EXPECT_NEAR(RelativeDistance({15, 15}, {10}), 1.0 / 3, 1e-12);
  // Quantiles differ by 0, 4, 0 and 4; the means are the same.
  EXPECT_NEAR(RelativeDistance({2, 6, 10, 10}, {2, 2, 10, 14}), 2.0 / 7, 1e-12);
  // The upper third differs by 6, the others do not.
  EXPECT_NEAR(RelativeDistance({2, 2, 8}, {2, 2, 2, 2, 14, 14}), 0.5, 1e-12);
}

TEST(SamplesTest, NothingIsFarFromSomething) {
  EXPECT_EQ(RelativeDistance({0, 0}, {0}), 0);
  EXPECT_EQ(RelativeDistance({0, 0}, {0, 5}), 1);
  EXPECT_EQ(RelativeDistance({7}, {0}), 1);
}

TEST(SamplesTest, QuantilesAreValues) {
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.99), 4);
  EXPECT_EQ(Quantile({}, 0.99), 0);
}

}  // namespace
}  // namespace distbench::trace_import
