// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/json/json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

Json Rendered(const std::vector<SourcedResults>& results,
              const JsonLimits& limits = {}) {
  return Json::parse(RenderJson(InputOf(results), limits));
}

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(JsonTest, SchemaIsAsDocumented) {
  const Json document = Rendered(Sourced({MakeExampleResult({})}));
  EXPECT_EQ(document["schema"], "distbench report");
  EXPECT_EQ(document["schema_version"], 2);
  EXPECT_EQ(document["confidence"], 0.95);
  ASSERT_EQ(document["tests"].size(), 1);
  const Json& test = document["tests"][0];
  EXPECT_THAT(
      Keys(test),
      testing::UnorderedElementsAre(
          "source", "name", "repetition", "verdict", "failure", "findings",
          "objectives", "headline", "run", "totals", "rpcs", "seconds",
          "topology", "time_parts", "streams", "policies", "goodput", "faults",
          "recoveries", "peers", "activities", "activity_series", "resources",
          "cpus", "groups", "connections", "nodes", "placement", "bindings",
          "network_settings", "server_faults", "admission", "simulated",
          "stopped_instances", "attributes", "traffic_config"));
  EXPECT_THAT(Keys(test["findings"][0]),
              testing::UnorderedElementsAre("severity", "code", "message",
                                            "advice", "of_each_host"));
  ASSERT_EQ(test["rpcs"].size(), 2);
  EXPECT_THAT(Keys(test["rpcs"][0]),
              testing::UnorderedElementsAre(
                  "name", "succeeded_count", "failed_count", "warmup_count",
                  "request_bytes", "response_bytes", "dropped_sample_count",
                  "duration_ns", "per_second", "offered_load", "streams",
                  "failures", "service_time", "response_time", "lateness",
                  "wire_time", "wire_shared_count", "series_left_out",
                  "start_timestamp_ns", "end_timestamp_ns"));
  EXPECT_THAT(
      Keys(test["rpcs"][0]["service_time"]),
      testing::UnorderedElementsAre(
          "count", "failed_count", "overflow_count", "min_ns", "mean_ns",
          "standard_deviation_ns", "max_ns", "percentiles", "distribution"));
}

TEST(JsonTest, HasTheVerdictsOnObjectives) {
  TestResult result = MakeExampleResult({});
  for (const char* objective :
       {"rpc_0 p50<=1s", "rpc_0 rate>=1000", "rpc_1 p99<=1us"}) {
    result.mutable_traffic_config()->add_objectives(objective);
  }
  const Json all = Rendered(Sourced({result}))["tests"][0]["objectives"];
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0]["objective"], "rpc_0 p50<=1s");
  EXPECT_EQ(all[0]["verdict"], "pass");
  EXPECT_EQ(all[0]["unit"], "ns");
  EXPECT_EQ(all[0]["limit"], 1e9);
  EXPECT_LE(all[0]["lower"], all[0]["measured"]);
  EXPECT_LE(all[0]["measured"], all[0]["upper"]);
  EXPECT_THAT(all[0]["evidence"].get<std::string>(),
              HasSubstr("95 % interval"));
  // 2 clients send 50 per second to each of 3 servers.
  EXPECT_EQ(all[1]["unit"], "per_second");
  EXPECT_NEAR(all[1]["measured"], 300, 1e-6);
  EXPECT_EQ(all[1]["verdict"], "fail");
  EXPECT_EQ(all[2]["verdict"], "fail");
}

TEST(JsonTest, ObjectivesSayWhatTheirIntervalsAre) {
  TestResult result = MakeExampleResult({});
  result.mutable_traffic_config()->add_objectives("rpc_0 p50<=1s");
  const auto objective = [&] {
    return Rendered(Sourced({result}))["tests"][0]["objectives"][0];
  };
  EXPECT_EQ(objective()["of_independent"], false);
  for (auto& [name, log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    log.clear_rpc_time_series();
  }
  EXPECT_EQ(objective()["of_independent"], true);
}

TEST(JsonTest, FiguresOfObjectivesMayBeMissing) {
  TestResult failed = MakeExampleResult({});
  failed.mutable_traffic_config()->add_objectives("rpc_0 p50<=1s");
  failed.mutable_traffic_config()->add_objectives("no objective");
  failed.mutable_run_info()->set_failure("node1 was lost");
  const Json all = Rendered(Sourced({failed}))["tests"][0]["objectives"];
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["verdict"], "fail");
  EXPECT_EQ(all[0]["limit"], 1e9);
  EXPECT_TRUE(all[0]["measured"].is_null());
  EXPECT_TRUE(all[1]["limit"].is_null());
}

TEST(JsonTest, NumbersAreThoseOfTheResult) {
  const Json document = Rendered(Sourced({MakeExampleResult({})}));
  const Json& test = document["tests"][0];
  EXPECT_EQ(test["verdict"], "warn");
  EXPECT_EQ(test["findings"][0]["code"], "example");
  EXPECT_EQ(test["run"]["random_seed"], "1");
  EXPECT_EQ(test["totals"]["succeeded_count"], 12000);
  const Json& rpc = test["rpcs"][0];
  EXPECT_EQ(rpc["succeeded_count"], 6000);
  EXPECT_EQ(rpc["per_second"], 300.0);
  EXPECT_EQ(rpc["offered_load"]["offered_count"], 6000);
  EXPECT_EQ(rpc["start_timestamp_ns"], test["run"]["start_timestamp_ns"]);
  EXPECT_EQ(rpc["end_timestamp_ns"], test["run"]["end_timestamp_ns"]);
  const Json& latency = rpc["service_time"];
  EXPECT_EQ(latency["distribution"].back()[0], latency["max_ns"]);
  EXPECT_EQ(latency["distribution"].back()[1], 6000);
  for (const Json& percentile : latency["percentiles"]) {
    EXPECT_LE(percentile["lower_ns"], percentile["value_ns"]);
    EXPECT_EQ(percentile["method"], "blocks");
  }
  EXPECT_EQ(test["seconds"]["rows"].size(), 40);
  EXPECT_EQ(test["seconds"]["rows"][0].size(),
            test["seconds"]["columns"].size());
  EXPECT_EQ(test["peers"]["rows"].size(), 12);
  EXPECT_EQ(test["nodes"][1]["host"]["cpu_count"], 8);
}

TEST(JsonTest, NodesHaveHostFactsAndTotalsOfCounters) {
  TestResult result;
  NodeResources& node =
      (*result.mutable_resource_usage_logs()->mutable_node_resources())["n"];
  node.mutable_host()->set_tcp_congestion_control("bbr");
  node.mutable_host()->set_is_smt_active(false);
  node.mutable_host()->add_idle_states("POLL");
  node.mutable_host()->add_idle_states("C1");
  (*node.mutable_host()->mutable_mitigations())["mds"] = "Not affected";
  NetworkDevice& device = *node.mutable_host()->add_network_devices();
  device.set_queueing_discipline("fq");
  device.add_interrupt_cpus("0-3");
  device.add_interrupt_cpus("4");
  node.mutable_host()->add_network_devices();
  for (const int64_t ns : {20, 22}) {
    ResourceSample& sample = *node.add_samples();
    sample.mutable_host_counters()->set_steal_cpu_ns(ns);
    sample.mutable_hardware_counters()->set_cycles(10 * ns);
    (*sample.mutable_energy_uj())["package-0"] = 100 * ns;
  }
  node.mutable_host()->set_energy_problem("none");
  node.mutable_host()->add_libfabric_providers("shm");
  const Json document = Rendered(Sourced({result}));
  const Json& json = document["tests"][0]["nodes"][0];
  EXPECT_EQ(json["host"]["tcp_congestion_control"], "bbr");
  EXPECT_EQ(json["host"]["is_smt_active"], false);
  for (const char* unknown :
       {"tcp_ecn_mode", "transparent_huge_pages", "is_cpu_boost_enabled",
        "default_queueing_discipline"}) {
    EXPECT_TRUE(json["host"].at(unknown).is_null()) << unknown;
  }
  EXPECT_TRUE(json["host"]["idle_driver"].is_null());
  EXPECT_EQ(json["host"]["idle_states"], Json({"POLL", "C1"}));
  EXPECT_EQ(json["host"]["mitigations"], Json({{"mds", "Not affected"}}));
  const Json& devices = json["host"]["network_devices"];
  EXPECT_EQ(devices[0]["queueing_discipline"], "fq");
  EXPECT_EQ(devices[0]["interrupt_cpus"], Json({"0-3", "4"}));
  EXPECT_TRUE(devices[1]["queueing_discipline"].is_null());
  EXPECT_EQ(json["host_counters"]["steal_cpu_ns"], 42);
  EXPECT_TRUE(json["host_counters"].at("throttled_ns").is_null());
  EXPECT_EQ(json["hardware_counters"]["cycles"], 420);
  EXPECT_TRUE(json["hardware_counters"].at("instructions").is_null());
  EXPECT_EQ(json["energy_uj"], Json({{"package-0", 4200}}));
  EXPECT_EQ(json["host"]["energy_problem"], "none");
  EXPECT_TRUE(json["host"].at("hardware_counters_problem").is_null());
  EXPECT_EQ(json["host"]["libfabric_providers"], Json({"shm"}));
  EXPECT_TRUE(json["host"].at("libfabric_problem").is_null());
}

TEST(JsonTest, FactsOfControlGroupsAreThoseOfTheHost) {
  const Json document = Rendered(Sourced({ResultFromText(R"(
    resource_usage_logs {
      node_resources {
        key: "n"
        value {
          host {
            control_groups {
              version: 2 delegated_path: "/d" controllers: "cpu"
              io_cost_devices: "259:0"
            }
          }
        }
      }
    })")}));
  const Json& groups =
      document["tests"][0]["nodes"][0]["host"]["control_groups"];
  EXPECT_EQ(groups["version"], 2);
  EXPECT_EQ(groups["controllers"], Json({"cpu"}));
  EXPECT_EQ(groups["io_cost_devices"], Json({"259:0"}));
  EXPECT_TRUE(groups["problem"].is_null());
}

TEST(JsonTest, NetworkSettingsAreFolded) {
  const Json document = Rendered(Sourced({ResultFromText(R"(
    service_logs {
      instance_logs {
        key: "server/0"
        value {
          network_settings {
            accepted: true
            connection_count: 4
            settings { name: "dscp" asked: "10" found: "0" differs: true }
          }
        }
      }
    })")}));
  EXPECT_EQ(
      document["tests"][0]["network_settings"],
      Json::array({{{"service", "server"},
                    {"accepted", true},
                    {"connection_count", 4},
                    {"total_count", 4},
                    {"settings", Json::array({{{"name", "dscp"},
                                               {"asked", "10"},
                                               {"found", "0"},
                                               {"differs", true}}})},
                    {"text",
                     "all 4 connections that server accepted: dscp 0 (asked: "
                     "10)"}}}));
}

TEST(JsonTest, FaultsAndAdmissionOfServers) {
  const Json document = Rendered(Sourced({ResultFromText(R"(
    traffic_config {
      services { name: "server" admission { max_running: 1 } }
      server_faults { name: "pause" service: "server" freeze: true }
    }
    service_logs {
      instance_logs {
        key: "server/0"
        value {
          fault_logs {
            key: "pause"
            value {
              times { begin_timestamp_ns: 100 end_timestamp_ns: 200 }
            }
          }
          admission_log { refused_count: 4 }
        }
      }
    })")}));
  EXPECT_EQ(
      document["tests"][0]["server_faults"],
      Json::array({{{"name", "pause"},
                    {"description", "server stands still"},
                    {"request_count", 0},
                    {"connection_count", 0},
                    {"times", Json::array({{{"begin_timestamp_ns", 100},
                                            {"end_timestamp_ns", 200}}})}}}));
  EXPECT_EQ(document["tests"][0]["admission"],
            Json::array({{{"service", "server"},
                          {"admitted_count", 0},
                          {"refused_count", 4},
                          {"wait", nullptr}}}));
}

TEST(JsonTest, LimitsAreSaid) {
  const Json document =
      Rendered(Sourced({MakeExampleResult({})}),
               {.max_rows = {{"peers", 5}, {"cpus", 2}, {"connections", 1}},
                .max_intervals = 10});
  const Json& test = document["tests"][0];
  EXPECT_EQ(test["peers"]["rows"].size(), 5);
  EXPECT_EQ(test["peers"]["rows_left_out"], 7);
  EXPECT_EQ(test["cpus"]["rows"].size(), 2);
  EXPECT_EQ(test["cpus"]["rows_left_out"], 38);
  EXPECT_EQ(test["connections"]["rows"].size(), 1);
  EXPECT_EQ(test["connections"]["rows_left_out"], 1);
  EXPECT_EQ(test["seconds"]["rows"].size(), 20);
  EXPECT_EQ(test["seconds"]["rows"][0][2], 2.0);
}

// A page has fewer seconds of a long run, and the same percentiles.
TEST(JsonTest, WhatIsMeasuredDoesNotDependOnWhatIsShown) {
  const auto percentiles = [](const JsonLimits& limits) {
    const Json document = Rendered(Sourced({MakeExampleResult({})}), limits);
    return document["tests"][0]["rpcs"][0]["response_time"]["percentiles"];
  };
  EXPECT_EQ(percentiles({.max_intervals = 8}), percentiles({}));
}

TEST(JsonTest, AttributesAreThoseOfTheTest) {
  TestResult result = MakeExampleResult({});
  auto& attributes = *result.mutable_traffic_config()->mutable_attributes();
  attributes["node_count"] = "10";
  attributes["swept_parameter"] = "node_count";
  EXPECT_EQ(Rendered(Sourced({result}))["tests"][0]["attributes"],
            Json({{"node_count", "10"}, {"swept_parameter", "node_count"}}));
}

TEST(JsonTest, AnEmptyResultHasAllFields) {
  const Json document = Rendered(Sourced({TestResult()}));
  const Json& test = document["tests"][0];
  EXPECT_EQ(test["name"], "tests[0]");
  EXPECT_EQ(test["verdict"], "ok");
  EXPECT_TRUE(test["failure"].is_null());
  EXPECT_TRUE(test["run"]["start_timestamp_ns"].is_null());
  EXPECT_EQ(test["rpcs"].size(), 0);
  EXPECT_EQ(Rendered({})["tests"].size(), 0);
}

TEST(JsonTest, UnsentRpcsRankAboveAllResponseTimes) {
  TestResult result = MakeExampleResult({});
  OfferedLoad& offered = result.mutable_service_logs()
                             ->mutable_instance_logs()
                             ->at("client/0")
                             .mutable_offered_loads()
                             ->at(0);
  offered.set_unsent_count(1);
  Histogram& wait = *offered.mutable_unsent_wait_ns();
  wait.set_sub_bucket_bits(7);
  wait.add_bucket_index_deltas(127);
  wait.add_bucket_counts(1);
  wait.set_min(127);
  wait.set_max(127);
  const Json document = Rendered(Sourced({result}));
  const Json& rpc = document["tests"][0]["rpcs"][0];
  EXPECT_EQ(rpc["response_time"]["count"], 6001);
  EXPECT_EQ(rpc["response_time"]["failed_count"], 1);
  EXPECT_GT(rpc["response_time"]["min_ns"], 127);
  EXPECT_EQ(rpc["service_time"]["count"], 6000);
}

TEST(JsonTest, PercentilesAmongFailuresAreFailed) {
  TestResult result = MakeExampleResult({});
  RpcStatistics& statistics = *result.mutable_service_logs()
                                   ->mutable_instance_logs()
                                   ->at("client/0")
                                   .mutable_peer_logs()
                                   ->at("server/0")
                                   .mutable_rpc_logs()
                                   ->at(0)
                                   .mutable_statistics();
  statistics.set_failed_count(1'000'000'000);
  const Json document = Rendered(Sourced({result}));
  const Json& latency = document["tests"][0]["rpcs"][0]["service_time"];
  const Json& median = latency["percentiles"][0];
  EXPECT_TRUE(median["value_ns"].is_null());
  EXPECT_TRUE(median["lower_ns"].is_null());
  EXPECT_EQ(median["failed"], true);
  EXPECT_EQ(median["lower_failed"], true);
  const Json& waits = document["tests"][0]["rpcs"][0]["lateness"];
  EXPECT_EQ(waits["percentiles"][0]["failed"], false);
  EXPECT_TRUE(latency["mean_ns"].is_number());
}

TEST(JsonTest, DamagedLogsMakeTheRunInvalid) {
  TestResult result = MakeExampleResult({});
  result.mutable_service_logs()
      ->mutable_instance_logs()
      ->at("client/0")
      .mutable_peer_logs()
      ->at("server/0")
      .mutable_rpc_logs()
      ->at(0)
      .mutable_statistics()
      ->set_failed_count(-1);
  const Json document = Rendered(Sourced({result}));
  EXPECT_EQ(document["tests"][0]["verdict"], "invalid");
  const Json& findings = document["tests"][0]["findings"];
  EXPECT_EQ(findings[0]["code"], "damaged_logs");
  EXPECT_TRUE(findings[0]["advice"].is_string());
  EXPECT_TRUE(findings[1]["advice"].is_null()) << "of a code without advice";
}

TEST(JsonTest, FindingsThatEachHostMayHaveAreMarked) {
  TestResult result = MakeExampleResult({});
  for (const char* code : {"stolen", "late_sends"}) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(Finding::INVALID);
    finding.set_code(code);
  }
  const Json document = Rendered(Sourced({result}));
  const Json& findings = document["tests"][0]["findings"];
  EXPECT_EQ(findings[0]["code"], "stolen");
  EXPECT_EQ(findings[0]["of_each_host"], true);
  EXPECT_EQ(findings[1]["of_each_host"], false);
}

TEST(JsonTest, NamesMayBeAnything) {
  TestResult result;
  result.mutable_traffic_config()->set_name(kHostileName);
  EXPECT_EQ(Rendered(Sourced({result}))["tests"][0]["name"], kHostileName);
}

}  // namespace
}  // namespace distbench::report
