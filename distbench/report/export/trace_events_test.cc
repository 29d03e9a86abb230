#include "distbench/report/export/trace_events.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace distbench::report
