// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/traces.h"

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

using Json = nlohmann::json;

struct Hop {
  int64_t engine;
  int64_t iteration;
  int64_t fanout;
};

// A query from c/0 to r/0, which queries two leaves at once.
class TraceEventsTest : public testing::Test {
 protected:
  TraceEventsTest() {
    result_.mutable_traffic_config()->set_name("tree");
    result_.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
    result_.mutable_traffic_config()->add_rpc_descriptions()->set_name("leaf");
  }

  RpcSample& AddSample(const std::string& client, const std::string& server,
                       int rpc, const std::vector<Hop>& hops, int64_t start_ns,
                       int64_t latency_ns) {
    auto& log =
        (*result_.mutable_service_logs()->mutable_instance_logs())[client];
    RpcSample& sample =
        *(*(*log.mutable_peer_logs())[server].mutable_rpc_logs())[rpc]
             .add_successful_rpc_samples();
    sample.set_start_timestamp_ns(start_ns);
    sample.set_latency_ns(latency_ns);
    TraceContext& context = *sample.mutable_trace_context();
    for (const Hop& hop : hops) {
      context.add_engine_ids(hop.engine);
      context.add_actionlist_indices(0);
      context.add_actionlist_invocations(0);
      context.add_action_indices(0);
      context.add_action_iterations(hop.iteration);
      context.add_fanout_index(hop.fanout);
    }
    return sample;
  }

  void AddTree(int64_t iteration, int64_t start_ns) {
    const Hop query = {0, iteration, 0};
    AddSample("c/0", "r/0", 0, {query}, start_ns, 10'000);
    AddSample("r/0", "l/0", 1, {query, {1, 0, 0}}, start_ns + 1000, 3000);
    AddSample("r/0", "l/1", 1, {query, {1, 0, 1}}, start_ns + 1000, 8000);
    AddSample("r/0", "l/0", 1, {query, {1, 1, 0}}, start_ns + 5000, 1000);
  }

  std::vector<Json> Events(const std::string& phase) {
    std::string text;
    const auto results = Sourced({result_});
    const absl::Status status = RenderTraceEvents(
        ListRuns(results),
        [&](absl::string_view bytes) { absl::StrAppend(&text, bytes); });
    EXPECT_TRUE(status.ok()) << status;
    std::vector<Json> events;
    const Json document = Json::parse(text);
    for (const Json& event : document["traceEvents"]) {
      if (event["ph"] == phase) events.push_back(event);
    }
    return events;
  }

  TestResult result_;
};

TEST_F(TraceEventsTest, ATreeIsAProcessWithTheRootOnTop) {
  AddTree(7, 1'000'000'000'000'000'000);
  const std::vector<Json> names = Events("M");
  ASSERT_EQ(names.size(), 1);
  EXPECT_EQ(names[0]["args"]["name"], "tree: query from c/0");

  const std::vector<Json> rpcs = Events("X");
  ASSERT_EQ(rpcs.size(), 4);
  EXPECT_EQ(rpcs[0]["name"], "query");
  EXPECT_EQ(rpcs[0]["ts"], 0.0);
  EXPECT_EQ(rpcs[0]["dur"], 10.0);
  EXPECT_EQ(rpcs[0]["tid"], 0);
  EXPECT_EQ(rpcs[1]["args"]["server"], "l/0");
  EXPECT_EQ(rpcs[1]["ts"], 1.0);
  EXPECT_EQ(rpcs[1]["tid"], 1);
  // It overlaps the first leaf, so it has its own lane. The third one comes
  // after the first, in the same lane.
  EXPECT_EQ(rpcs[2]["args"]["server"], "l/1");
  EXPECT_EQ(rpcs[2]["tid"], 2);
  EXPECT_EQ(rpcs[3]["tid"], 1);
}

TEST_F(TraceEventsTest, ArrowsLeadFromCauseToEffect) {
  AddTree(0, 1000);
  const std::vector<Json> starts = Events("s");
  const std::vector<Json> ends = Events("f");
  ASSERT_EQ(starts.size(), 3);
  ASSERT_EQ(ends.size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(starts[i]["tid"], 0);
    EXPECT_GT(ends[i]["tid"], 0);
  }
}

TEST_F(TraceEventsTest, TracesAreInOrderOfTime) {
  AddTree(1, 5'000'000);
  AddTree(2, 1'000'000);
  const std::vector<Json> rpcs = Events("X");
  ASSERT_EQ(rpcs.size(), 8);
  EXPECT_EQ(rpcs[0]["ts"], 0.0);
  EXPECT_EQ(rpcs[0]["pid"], 1);
  EXPECT_EQ(rpcs[4]["ts"], 4000.0);
  EXPECT_EQ(rpcs[4]["pid"], 2);
}

TEST_F(TraceEventsTest, WhatLostItsRootIsATraceOfItsOwn) {
  AddSample("c/0", "r/0", 0, {{0, 1, 0}}, 1000, 100);
  AddSample("l/0", "m/0", 1, {{0, 1, 0}, {1, 0, 0}, {2, 0, 0}}, 1020, 10);
  AddSample("r/0", "l/1", 1, {{0, 1, 0}, {1, 0, 1}}, 1030, 10);
  EXPECT_EQ(Events("M").size(), 2);
  EXPECT_EQ(Events("s").size(), 1);
}

TEST_F(TraceEventsTest, TimesAtTheEndOfTimeAreKept) {
  const int64_t start_ns = std::numeric_limits<int64_t>::max() - 100;
  AddSample("c/0", "r/0", 0, {{0, 0, 0}}, start_ns, 10'000);
  AddSample("r/0", "l/0", 1, {{0, 0, 0}, {1, 0, 0}}, start_ns + 10, 5000);
  AddSample("r/0", "l/1", 1, {{0, 0, 0}, {1, 0, 1}}, start_ns + 20, 5000);
  AddSample("c/0", "r/1", 0, {{0, 1, 0}}, std::numeric_limits<int64_t>::min(),
            1);
  const std::vector<Json> rpcs = Events("X");
  ASSERT_EQ(rpcs.size(), 4);
  for (const Json& rpc : rpcs) EXPECT_GE(rpc["ts"], 0.0);
  // The leaves overlap.
  EXPECT_EQ(rpcs[2]["tid"], 1);
  EXPECT_EQ(rpcs[3]["tid"], 2);
}

TEST_F(TraceEventsTest, NamesMayBeAnything) {
  result_.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      kHostileName);
  AddTree(0, 0);
  EXPECT_EQ(Events("X")[0]["name"], kHostileName);
}

TEST_F(TraceEventsTest, NothingTracedIsAnError) {
  AddSample("c/0", "r/0", 0, {}, 1000, 100);
  const auto results = Sourced({result_});
  const absl::Status status =
      RenderTraceEvents(ListRuns(results), [](absl::string_view) { FAIL(); });
  EXPECT_THAT(std::string(status.message()), HasSubstr("tracing_interval"));
}

using Json = nlohmann::json;

// A query from c/0 to r/0, which queries l/0. Only r/0 says how long it took.
constexpr char kTwoHops[] = R"(
  traffic_config {
    name: "tree"
    services { name: "c" count: 1 }
    services { name: "r" count: 1 }
    services { name: "l" count: 1 protocol_driver_options_name: "fast" }
    protocol_driver_options { name: "fast" protocol_name: "tcp" }
    rpc_descriptions { name: "query" client: "c" server: "r" }
    rpc_descriptions { name: "leaf" client: "r" server: "l" }
  }
  run_info { random_seed: 18 start_timestamp_ns: 1 }
  placement {
    service_endpoints {
      key: "r/0"
      value { endpoint_address: "[::1]:4711" hostname: "beta" }
    }
  }
  service_logs {
    instance_logs {
      key: "c/0"
      value {
        peer_logs {
          key: "r/0"
          value {
            rpc_logs {
              key: 0
              value {
                successful_rpc_samples {
                  request_size: 16
                  response_size: 1024
                  start_timestamp_ns: 1700000000000000000
                  latency_ns: 10000
                  lateness_ns: 70
                  wire_time_ns: 8000
                  server_queue_ns: 1000
                  server_handler_ns: 5000
                  trace_context {
                    engine_ids: 0 actionlist_indices: 0
                    actionlist_invocations: 0 action_indices: 0
                    action_iterations: 7 fanout_index: 0
                  }
                }
              }
            }
          }
        }
      }
    }
    instance_logs {
      key: "r/0"
      value {
        error_dictionary { error_message: "" error_message: "no answer" }
        peer_logs {
          key: "l/0"
          value {
            rpc_logs {
              key: 1
              value {
                failed_rpc_samples {
                  start_timestamp_ns: 1700000000000003000
                  latency_ns: 2000
                  warmup: true
                  error_index: 1
                  trace_context {
                    engine_ids: [ 0, 1 ] actionlist_indices: [ 0, 0 ]
                    actionlist_invocations: [ 0, 0 ] action_indices: [ 0, 0 ]
                    action_iterations: [ 7, 0 ] fanout_index: [ 0, 0 ]
                  }
                }
              }
            }
          }
        }
      }
    }
  })";

Json RenderRequest(const std::vector<TestResult>& results) {
  const auto sourced = Sourced(results);
  std::string text;
  const absl::Status status = RenderOtlp(
      ListRuns(sourced),
      [&](absl::string_view bytes) { absl::StrAppend(&text, bytes); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return Json::parse(text);
}

std::map<std::string, Json> Attributes(const Json& owner) {
  std::map<std::string, Json> attributes;
  for (const Json& attribute : owner["attributes"]) {
    attributes[attribute["key"]] = attribute["value"];
  }
  return attributes;
}

// The spans by instance, in order.
std::map<std::string, std::vector<Json>> SpansOf(const Json& request) {
  std::map<std::string, std::vector<Json>> spans;
  for (const Json& part : request["resourceSpans"]) {
    auto& own = spans[Attributes(
        part["resource"])["service.instance.id"]["stringValue"]];
    for (const Json& span : part["scopeSpans"][0]["spans"]) {
      own.push_back(span);
    }
  }
  return spans;
}

class OtlpTest : public testing::Test {
 protected:
  OtlpTest() {
    auto spans = SpansOf(RenderRequest({ResultFromText(kTwoHops)}));
    EXPECT_EQ(spans["c/0"].size(), 1);
    EXPECT_EQ(spans["r/0"].size(), 2);
    query_ = spans["c/0"].at(0);
    for (const Json& span : spans["r/0"]) {
      (span["kind"] == 2 ? served_ : leaf_) = span;
    }
  }

  Json query_;
  Json served_;
  Json leaf_;
};

TEST_F(OtlpTest, ARpcIsASpanOfItsClient) {
  EXPECT_EQ(query_["name"], "r/query");
  EXPECT_EQ(query_["kind"], 3);
  EXPECT_EQ(query_["startTimeUnixNano"], "1700000000000000000");
  EXPECT_EQ(query_["endTimeUnixNano"], "1700000000000010000");
  EXPECT_FALSE(query_.contains("status"));
  EXPECT_FALSE(query_.contains("parentSpanId"));
  auto attributes = Attributes(query_);
  EXPECT_EQ(attributes["rpc.system"]["stringValue"], "grpc");
  EXPECT_EQ(attributes["rpc.service"]["stringValue"], "r");
  EXPECT_EQ(attributes["rpc.method"]["stringValue"], "query");
  EXPECT_EQ(attributes["server.address"]["stringValue"], "::1");
  EXPECT_EQ(attributes["server.port"]["intValue"], "4711");
  EXPECT_EQ(attributes["distbench.request_bytes"]["intValue"], "16");
  EXPECT_EQ(attributes["distbench.lateness_ns"]["intValue"], "70");
  EXPECT_EQ(attributes["distbench.wire_time_ns"]["intValue"], "8000");
  EXPECT_EQ(attributes.count("distbench.warmup"), 0);
}

TEST_F(OtlpTest, TheServersTimeIsInTheMiddle) {
  EXPECT_EQ(served_["startTimeUnixNano"], "1700000000000002000");
  EXPECT_EQ(served_["endTimeUnixNano"], "1700000000000008000");
  EXPECT_EQ(served_["parentSpanId"], query_["spanId"]);
  auto attributes = Attributes(served_);
  EXPECT_EQ(attributes["distbench.start_is_estimated"]["boolValue"], true);
  EXPECT_EQ(attributes["distbench.server_queue_ns"]["intValue"], "1000");
}

TEST_F(OtlpTest, WhatAServerCausedIsBelowItsSpan) {
  EXPECT_EQ(leaf_["parentSpanId"], served_["spanId"]);
  EXPECT_EQ(leaf_["traceId"], query_["traceId"]);
  EXPECT_EQ(leaf_["status"]["code"], 2);
  EXPECT_EQ(leaf_["status"]["message"], "no answer");
  auto attributes = Attributes(leaf_);
  EXPECT_EQ(attributes["rpc.system"]["stringValue"], "tcp");
  EXPECT_EQ(attributes["distbench.warmup"]["boolValue"], true);
  EXPECT_EQ(attributes.count("server.address"), 0);
}

TEST_F(OtlpTest, IdsAreHexadecimalAndDifferBetweenRuns) {
  const TestResult result = ResultFromText(kTwoHops);
  std::set<std::string> traces;
  const Json request = RenderRequest({result, result});
  for (const Json& part : request["resourceSpans"]) {
    std::set<std::string> ids;
    for (const Json& span : part["scopeSpans"][0]["spans"]) {
      const std::string trace = span["traceId"];
      EXPECT_EQ(trace.size(), 32);
      EXPECT_EQ(trace.find_first_not_of("0123456789abcdef"), trace.npos);
      traces.insert(trace);
      const std::string id = span["spanId"];
      EXPECT_EQ(id.size(), 16);
      EXPECT_TRUE(ids.insert(id).second) << id;
    }
  }
  EXPECT_EQ(traces.size(), 2);
}

TEST_F(OtlpTest, ResourcesAreInstancesOfARun) {
  const Json request = RenderRequest({ResultFromText(kTwoHops)});
  auto attributes = Attributes(request["resourceSpans"][1]["resource"]);
  EXPECT_EQ(attributes["service.name"]["stringValue"], "r");
  EXPECT_EQ(attributes["service.instance.id"]["stringValue"], "r/0");
  EXPECT_EQ(attributes["host.name"]["stringValue"], "beta");
  EXPECT_EQ(attributes["distbench.test"]["stringValue"], "tree");
}

TEST_F(OtlpTest, NamesMayBeAnything) {
  TestResult result = ResultFromText(kTwoHops);
  result.mutable_traffic_config()->mutable_rpc_descriptions(0)->set_name(
      kHostileName);
  EXPECT_EQ(SpansOf(RenderRequest({result}))["c/0"].at(0)["name"],
            absl::StrCat("r/", kHostileName));
}

TEST_F(OtlpTest, NothingTracedIsAnError) {
  const auto results = Sourced({TestResult()});
  const absl::Status status =
      RenderOtlp(ListRuns(results), [](absl::string_view) { FAIL(); });
  EXPECT_THAT(std::string(status.message()), HasSubstr("tracing_interval"));
}

}  // namespace
}  // namespace distbench::report
