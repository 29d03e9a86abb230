// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/export/openmetrics.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Render(const std::vector<TestResult>& results) {
  const auto sourced = Sourced(results);
  return RenderOpenMetrics(ListRuns(sourced));
}

TEST(OpenMetricsTest, HasWhatTheResultHas) {
  const std::string text = Render({MakeExampleResult({.rpcs = 1})});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("distbench_rpc_ended_total{test=\"example\",repetition="
                      "\"0\",rpc=\"rpc_0\",outcome=\"succeeded\"} 6000.0\n"),
            HasSubstr("distbench_rpc_service_time_seconds_bucket{test="
                      "\"example\",repetition=\"0\",rpc=\"rpc_0\",le=\"+Inf\"} "
                      "6000\n"),
            HasSubstr("distbench_rpc_service_time_percentile_seconds{test="
                      "\"example\",repetition=\"0\",rpc=\"rpc_0\",percentile="
                      "\"99.9\"} "),
            EndsWith("# EOF\n")));
}

TEST(OpenMetricsTest, PercentilesAmongFailuresAreInfinite) {
  TestResult result = MakeExampleResult({.rpcs = 1});
  for (auto& [client, log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    for (auto& [server, peer] : *log.mutable_peer_logs()) {
      for (auto& [index, rpc] : *peer.mutable_rpc_logs()) {
        rpc.mutable_statistics()->set_failed_count(300);
      }
    }
  }
  EXPECT_THAT(Render({result}),
              AllOf(HasSubstr("percentile=\"99\"} +Inf\n"),
                    HasSubstr("outcome=\"failed\"} 1800.0\n"),
                    Not(HasSubstr("percentile=\"50\"} +Inf\n"))));
}

TEST(OpenMetricsTest, VerdictsAndFindingsAreThoseOfTheRun) {
  EXPECT_THAT(
      Render({ResultFromText(R"(
        traffic_config { name: "t" objectives: "failures<=1%" }
        run_info {
          start_timestamp_ns: 1500000000
          failure: "lost"
          findings { severity: WARN code: "late" }
          findings { severity: WARN code: "late" }
        })")}),
      AllOf(HasSubstr("distbench_run_verdict{test=\"t\",repetition=\"0\","
                      "verdict=\"failed\"} 1.0\n"),
            HasSubstr("distbench_objective{test=\"t\",repetition=\"0\","
                      "objective=\"failures<=1%\",verdict=\"fail\"} 1.0\n"),
            HasSubstr("distbench_run_findings{test=\"t\",repetition=\"0\","
                      "severity=\"warn\",code=\"late\"} 2.0\n"),
            HasSubstr("distbench_run_start_timestamp_seconds{test=\"t\","
                      "repetition=\"0\"} 1.5\n"),
            Not(HasSubstr("distbench_run_end_timestamp_seconds"))));
}

TEST(OpenMetricsTest, DamagedLogsMakeARunInvalid) {
  TestResult result = ResultFromText(R"(traffic_config { name: "t" })");
  StatisticsOf(result, "client/0", "server/0", 0).set_failed_count(-1);
  EXPECT_THAT(
      Render({result}),
      AllOf(HasSubstr("distbench_run_verdict{test=\"t\",repetition=\"0\","
                      "verdict=\"invalid\"} 1.0\n"),
            HasSubstr("distbench_run_findings{test=\"t\",repetition=\"0\","
                      "severity=\"invalid\",code=\"damaged_logs\"} 1.0\n")));
}

TEST(OpenMetricsTest, PoliciesAndFaultsHaveFamilies) {
  const std::string text = Render({ResultFromText(R"(
    traffic_config {
      name: "t"
      services { name: "server" count: 2 }
      rpc_descriptions { name: "get" policy {} }
      server_faults { name: "slow" service: "server" extra_latency: "1ms" }
    }
    service_logs {
      instance_logs {
        key: "client/0"
        value { policy_statistics { key: 0 value {
          request_count: 20 attempt_count: 33 retry_count: 13
          succeeded_attempt_count: 18 failed_attempt_count: 14
          abandoned_attempt_count: 1 refused_by_budget_count: 5
          circuit_opened_count: 2 } } }
      }
      instance_logs {
        key: "server/0"
        value { fault_logs { key: "slow" value {
          request_count: 7
          times { begin_timestamp_ns: 2000000000 end_timestamp_ns: 3500000000 }
        } } }
      }
    })")});
  for (const char* const line :
       {"distbench_rpc_attempts_total{LABELSrpc=\"get\",outcome=\"failed\"} "
        "14.0\n",
        "distbench_rpc_attempts_total{LABELSrpc=\"get\",outcome=\"abandoned\"} "
        "1.0\n",
        "distbench_rpc_further_attempts_total{LABELSrpc=\"get\",kind=\"retry\"}"
        " "
        "13.0\n",
        "distbench_rpc_refused_attempts_total{LABELSrpc=\"get\",by=\"budget\"} "
        "5.0\n",
        "distbench_rpc_circuits_opened_total{LABELSrpc=\"get\"} 2.0\n",
        "distbench_fault_affected_requests_total{LABELSfault=\"slow\"} 7.0\n",
        "distbench_fault_broken_connections_total{LABELSfault=\"slow\"} 0.0\n",
        "distbench_fault_in_effect_seconds_total{LABELSfault=\"slow\"} "
        "1.5\n"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrReplaceAll(
                          line, {{"LABELS", "test=\"t\",repetition=\"0\","}})));
  }
  // Runs without either have none.
  EXPECT_THAT(Render({MakeExampleResult({.rpcs = 1})}),
              Not(AnyOf(HasSubstr("attempts_total"), HasSubstr("_fault_"))));
}

TEST(OpenMetricsTest, RunsThatAgreeInTheirLabelsAreNumbered) {
  const auto named = [](const std::string& name) {
    TestResult result;
    result.mutable_traffic_config()->set_name(name);
    return result;
  };
  const std::string text = Render({named("a"), named("b"), named("a")});
  EXPECT_THAT(text,
              AllOf(HasSubstr("{test=\"a\",repetition=\"0\",run=\"0\","),
                    HasSubstr("{test=\"b\",repetition=\"0\",verdict"),
                    HasSubstr("{test=\"a\",repetition=\"0\",run=\"2\",")));
}

}  // namespace
}  // namespace distbench::report
