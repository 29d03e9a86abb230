// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Error-prone cases of the traffic language, each on its own, on simulated
// time. engine_test.cc and iterations_test.cc test the common ones.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;
using ::testing::SizeIs;

// A client and a server with what most cases need; `more` completes the test.
std::string ClientServer(absl::string_view more) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        random_seed: 5
        delay_distribution_configs {
          name: "three_seconds"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 3000000000 }
          }
        }
        size_distribution_configs {
          name: "about_700"
          pmf_points {
            pmf: 1
            data_points { lower: 700 upper: 799 }
          }
        }
        payload_descriptions { name: "small" size: 100 }
        payload_descriptions { name: "big" size: 5000 }
        payload_descriptions {
          name: "drawn"
          size_distribution_name: "about_700"
        }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "small"
          response_payload_name: "small"
        }
        rpc_descriptions { name: "note" client: "server" server: "client" }
        action_lists { name: "note" } $0)pb",
      more);
}

RpcStatistics QueryStatistics(const ServiceLogs& logs) {
  return StatisticsOf(logs, "client/0", "server/0", 0);
}

// The times from the start of the traffic until the client's first query was
// sent and its last one was answered.
struct Span {
  int64_t first_ns;
  int64_t last_ns;
};
Span QuerySpan(VirtualTimeSystem& system, const ServiceLogs& logs) {
  const RpcStatistics statistics = QueryStatistics(logs);
  const int64_t start_ns = system.start_ns() + system.clock().UnixNs() -
                           system.clock().MonotonicNs();
  return {statistics.first_start_timestamp_ns() - start_ns,
          statistics.last_end_timestamp_ns() - start_ns};
}

TEST(DelayTest, MayExceed32Bits) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" }
    actions {
      name: "run"
      rpc_name: "query"
      delay_distribution_name: "three_seconds"
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(QuerySpan(system, system.Finish()).first_ns, 3'000 * kMs);
}

TEST(DelayTest, EndsWhenTheTrafficOfItsInstanceDoes) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists {
      name: "client"
      action_names: "late"
      action_names: "once"
      action_names: "end"
    }
    actions {
      name: "late"
      rpc_name: "query"
      delay_distribution_name: "three_seconds"
    }
    actions { name: "once" rpc_name: "query" }
    actions { name: "end" dependencies: "once" cancel_traffic_when_done: true }
  )pb"));
  EXPECT_TRUE(system.Run(/*limit_ns=*/1'000 * kMs)) << "it is asleep";
  EXPECT_EQ(QueryStatistics(system.Finish()).succeeded_count(), 1);
}

TEST(DelayTest, IsDrawnForEachExecution) {
  VirtualTimeSystem system(ClientServer(R"pb(
    delay_distribution_configs {
      name: "about_a_second"
      pmf_points {
        pmf: 0.5
        data_points { exact: 900000000 }
      }
      pmf_points {
        pmf: 0.5
        data_points { exact: 1000000000 }
      }
    }
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "twice"
      action_names: "delayed"
      action_names: "delayed"
    }
    actions {
      name: "run"
      action_list_name: "twice"
      iterations { max_iteration_count: 50 max_parallel_iterations: 50 }
    }
    actions {
      name: "delayed"
      rpc_name: "query"
      delay_distribution_name: "about_a_second"
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(QueryStatistics(logs).succeeded_count(), 100)
      << "an action may stand in a list more than once";
  const Span span = QuerySpan(system, logs);
  EXPECT_EQ(span.first_ns, 900 * kMs);
  EXPECT_NEAR(span.last_ns, 1'000 * kMs, 1 * kMs);
}

// Skips an action that would wait, answer and end the traffic.
TEST(SkippedActionTest, NeitherWaitsNorAnswersNorCancels) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "client" action_names: "run" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 3 }
    }
    action_lists {
      name: "query"
      action_names: "skipped"
      action_names: "depends"
      action_names: "note"
      predicate_probabilities { key: "never" value: 0 }
    }
    actions {
      name: "skipped"
      predicates: "never"
      delay_distribution_name: "three_seconds"
      send_response_when_done: true
      response_payload_override: "big"
      cancel_traffic_when_done: true
    }
    actions {
      name: "depends"
      dependencies: "skipped"
      cancel_traffic_when_done: true
    }
    actions { name: "note" rpc_name: "note" }
  )pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(QueryStatistics(logs).succeeded_count(), 3);
  EXPECT_EQ(QueryStatistics(logs).response_bytes(), 300);
  EXPECT_LT(QuerySpan(system, logs).last_ns, 1 * kMs);
  EXPECT_EQ(StatisticsOf(logs, "server/0", "client/0", 1).succeeded_count(), 3);
  EXPECT_FALSE(logs.instance_logs().at("server/0").has_engine_error_message());
}

TEST(ActionThatDoesNothingTest, AnswersRequests) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "client" action_names: "run" }
    actions { name: "run" rpc_name: "query" }
    action_lists { name: "query" action_names: "nothing" }
    actions { name: "nothing" }
  )pb"));
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(QueryStatistics(system.Finish()).succeeded_count(), 1);
}

TEST(ActionThatDoesNothingTest, RepeatsInOpenLoop) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "nothing" action_names: "run" }
    actions {
      name: "nothing"
      iterations { open_loop_interval_ns: 1000000 max_iteration_count: 11 }
    }
    actions { name: "run" rpc_name: "query" dependencies: "nothing" }
  )pb"));
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(QuerySpan(system, system.Finish()).first_ns, 10 * kMs);
}

TEST(ActivityTest, RunsInOpenLoop) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "work" }
    activity_configs {
      name: "sort"
      activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
      activity_settings { name: "array_size" int64_value: 10 }
    }
    actions {
      name: "work"
      activity_config_name: "sort"
      iterations { open_loop_interval_ns: 1000000 max_duration_us: 100000 }
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(system.Finish()
                .instance_logs()
                .at("client/0")
                .activity_logs()
                .at("sort")
                .activity_metrics(0)
                .value_int(),
            101);
}

// The effects of a handler's only action, with an override of the response.
class ResponseOverrideTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Actions, ResponseOverrideTest,
    testing::Values("", "rpc_name: 'note'", "action_list_name: 'nested'",
                    "activity_config_name: 'sleep'",
                    "delay_distribution_name: 'three_seconds'"));

TEST_P(ResponseOverrideTest, WorksOnEveryKindOfAction) {
  VirtualTimeSystem system(ClientServer(absl::StrCat(
      R"pb(
        action_lists { name: "client" action_names: "run" }
        actions { name: "run" rpc_name: "query" }
        action_lists { name: "query" action_names: "handle" }
        action_lists { name: "nested" action_names: "note" }
        actions { name: "note" rpc_name: "note" }
        activity_configs {
          name: "sleep"
          activity_settings { name: "activity_func" string_value: "SleepFor" }
          activity_settings { name: "duration_us" int64_value: 10 }
        }
      )pb",
      "actions { name: 'handle' response_payload_override: 'big' ", GetParam(),
      " }")));
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(QueryStatistics(system.Finish()).response_bytes(), 5000);
}

TEST(RequestOverrideTest, MayBeFixedOrDrawn) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "fixed" action_names: "drawn" }
    actions { name: "fixed" rpc_name: "query" request_payload_override: "big" }
    actions {
      name: "drawn"
      rpc_name: "query"
      dependencies: "fixed"
      request_payload_override: "drawn"
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].request_size(), 5000);
  EXPECT_THAT(samples[1].request_size(), AllOf(Ge(700), Le(799)));
}

TEST(JointDistributionTest, PairsTheSizesOfRequestAndResponse) {
  std::string config = ClientServer(R"pb(
    distribution_config {
      name: "pairs"
      field_names: "request_payload_size"
      field_names: "response_payload_size"
      pmf_points {
        pmf: 0.5
        data_points { exact: 16 }
        data_points { exact: 16000 }
      }
      pmf_points {
        pmf: 0.5
        data_points { exact: 17 }
        data_points { exact: 17000 }
      }
    }
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" }
    actions {
      name: "run"
      rpc_name: "query"
      request_payload_override: "big"
      iterations { max_iteration_count: 200 }
    }
  )pb");
  config.replace(config.find("name: \"query\""), 13,
                 "name: \"query\" distribution_config_name: \"pairs\"");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  std::set<int64_t> requests;
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    requests.insert(sample.request_size());
    EXPECT_EQ(sample.response_size(), 1000 * sample.request_size());
  }
  EXPECT_THAT(requests, ElementsAre(16, 17));
}

// The server never answers in time.
TEST(FailedRpcTest, KeepsItsSizeTraceAndWarmup) {
  std::string config = ClientServer(R"pb(
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "wait" }
    actions { name: "wait" delay_distribution_name: "three_seconds" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 2 warmup_iterations: 1 }
    }
  )pb");
  config.replace(config.find("name: \"query\""), 13,
                 "name: \"query\" deadline_us: 1000 tracing_interval: 1");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).failed_rpc_samples();
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_TRUE(samples[0].warmup());
  EXPECT_FALSE(samples[1].warmup());
  for (const RpcSample& sample : samples) {
    EXPECT_EQ(sample.request_size(), 100);
    EXPECT_THAT(sample.trace_context().engine_ids(), ElementsAre(0));
  }
  EXPECT_EQ(QueryStatistics(logs).failed_count(), 1);
  EXPECT_EQ(QueryStatistics(logs).warmup_count(), 1);
}

TEST(LimitedSamplesTest, AreDrawnFromAllRpcsAndEveryRpcIsCounted) {
  VirtualTimeSystem system(ClientServer(R"pb(
    action_lists { name: "query" }
    action_lists { name: "client" action_names: "run" max_rpc_samples: 1000 }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 3000 warmup_iterations: 1000 }
    }
  )pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples();
  EXPECT_THAT(samples, SizeIs(1000));
  const auto warmups =
      std::count_if(samples.begin(), samples.end(),
                    [](const RpcSample& sample) { return sample.warmup(); });
  // Within four standard deviations.
  EXPECT_NEAR(warmups, 333, 50);
  EXPECT_EQ(QueryStatistics(logs).succeeded_count(), 2000);
  EXPECT_EQ(QueryStatistics(logs).warmup_count(), 1000);
  EXPECT_EQ(QueryStatistics(logs).dropped_sample_count(), 2000);
}

}  // namespace
}  // namespace distbench::engine
