// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distbench/report/json/json.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using Json = nlohmann::json;
using ::testing::UnorderedElementsAre;

Json TopologyOf(const TestResult& result, const JsonLimits& limits = {}) {
  return Json::parse(
      RenderJson(InputOf(Sourced({result})), limits))["tests"][0]["topology"];
}

// The cell of a row of instances.
Json CellOf(const Json& instances, int row, const std::string& column) {
  for (size_t i = 0; i < instances["columns"].size(); ++i) {
    if (instances["columns"][i] == column) return instances["rows"][row][i];
  }
  return nullptr;
}

TEST(JsonTopologyTest, IsAsDocumented) {
  const Json topology = TopologyOf(MakeExampleResult({}));
  EXPECT_EQ(topology["services"], Json::parse(R"([
              {"name": "client", "instances": 2, "tier": 0,
               "external_addresses": []},
              {"name": "server", "instances": 3, "tier": 1,
               "external_addresses": []}])"));
  ASSERT_EQ(topology["edges"].size(), 2);
  Json edge = topology["edges"][1];
  // The second RPC takes twice as long as the first.
  EXPECT_NEAR(edge["p50_ns"].get<double>(), 580'000, 60'000);
  EXPECT_GT(edge["p99_ns"], edge["p50_ns"]);
  edge.erase("p50_ns");
  edge.erase("p99_ns");
  EXPECT_EQ(edge, Json::parse(R"({
    "rpc": "rpc_1", "client": "client", "server": "server",
    "is_entry": false, "offered_per_second": 300.0,
    "succeeded_per_second": 300.0, "succeeded": 6000, "failed": 0,
    "unsent": 0, "latency_count": 6000, "latency_failed": 0,
    "latency": "response", "failed_above_percent": null
  })"));
}

// Those that waited for a place in a queue until their deadline.
TEST(JsonTopologyTest, WhatFailedAndWasNeverSentCountsOnceInTheLatency) {
  TestResult result;
  RpcSpec& rpc = *result.mutable_traffic_config()->add_rpc_descriptions();
  rpc.set_name("query");
  rpc.add_client("c");
  rpc.set_server("s");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["c/0"];
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["s/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_failed_count(8);
  OfferedLoad& load = (*log.mutable_offered_loads())[0];
  load.set_offered_count(10);
  load.set_unsent_count(7);
  const Json edge = TopologyOf(result)["edges"][0];
  EXPECT_EQ(edge["failed"], 8);
  EXPECT_EQ(edge["unsent"], 7);
  EXPECT_EQ(edge["latency_count"], 10);
  EXPECT_EQ(edge["latency_failed"], 10);
}

TEST(JsonTopologyTest, TheWorstInstancesComeFirst) {
  const TestResult result = MakeExampleResult({});
  const Json all = TopologyOf(result)["instances"];
  // Two clients and three servers of two RPCs.
  ASSERT_EQ(all["rows"].size(), 10);
  EXPECT_EQ(all["rows_left_out"], 0);
  for (int row = 1; row < 10; ++row) {
    EXPECT_GE(CellOf(all, row - 1, "p99_ns"), CellOf(all, row, "p99_ns"));
  }
  EXPECT_EQ(CellOf(all, 0, "rpc"), "rpc_1");
  const Json worst = TopologyOf(result, {.max_instance_rows = 3})["instances"];
  ASSERT_EQ(worst["rows"].size(), 3);
  EXPECT_EQ(worst["rows"][2], all["rows"][2]);
  EXPECT_EQ(worst["rows_left_out"], 7);
}

TEST(JsonTopologyTest, FailuresAreTheWorst) {
  TestResult result = MakeExampleResult({.clients = 1, .rpcs = 1});
  ServicePerformanceLog& client =
      result.mutable_service_logs()->mutable_instance_logs()->at("client/0");
  client.mutable_peer_logs()
      ->at("server/1")
      .mutable_rpc_logs()
      ->at(0)
      .mutable_statistics()
      ->set_failed_count(500);
  OfferedLoad& load = client.mutable_offered_loads()->at(0);
  load.set_offered_count(load.offered_count() + 500);
  const Json topology = TopologyOf(result);
  EXPECT_TRUE(topology["edges"][0]["p99_ns"].is_null());
  // Of 3500, 3000 succeeded.
  EXPECT_NEAR(topology["edges"][0]["failed_above_percent"], 100 * 3.0 / 3.5,
              1e-9);
  EXPECT_EQ(topology["edges"][0]["failed"], 500);
  const Json& instances = topology["instances"];
  EXPECT_THAT((std::vector<Json>{CellOf(instances, 0, "instance"),
                                 CellOf(instances, 1, "instance")}),
              UnorderedElementsAre("client/0", "server/1"));
  EXPECT_TRUE(CellOf(instances, 0, "p99_ns").is_null());
  EXPECT_LT(CellOf(instances, 0, "failed_above_percent"), 99);
}

TEST(JsonTopologyTest, WhatWasNotMeasuredIsNull) {
  TestResult result;
  RpcSpec& rpc = *result.mutable_traffic_config()->add_rpc_descriptions();
  rpc.set_name("query");
  rpc.add_client("a");
  rpc.set_server("b");
  const Json edge = TopologyOf(result)["edges"][0];
  for (const char* field :
       {"offered_per_second", "p50_ns", "p99_ns", "latency"}) {
    EXPECT_TRUE(edge.at(field).is_null()) << field;
  }
  EXPECT_EQ(edge["succeeded"], 0);
}

}  // namespace
}  // namespace distbench::report
