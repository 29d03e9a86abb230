// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Admission in whole engines, on simulated time: against what queueing theory
// says.

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

constexpr double kMeanMs = 1;  // of the handler

// Requests whose handler waits for an exponential time, or exactly.
std::string Queue(absl::string_view iterations, absl::string_view admission,
                  absl::string_view distribution, absl::string_view more = "") {
  const std::string config = ClientServer(
      absl::Substitute("iterations { $0 }", iterations),
      absl::Substitute(
          R"pb(
            random_seed: 11
            actions { name: "wait" activity_config_name: "wait" }
            activity_configs {
              name: "wait"
              activity_settings { name: "activity_func" string_value: "Wait" }
              activity_settings { name: "mean_us" int64_value: 1000 }
              activity_settings { name: "distribution" string_value: "$0" }
            } $1)pb",
          distribution, more));
  DistributedSystemDescription test = ParseTest(config);
  test.mutable_action_lists(1)->add_action_names("wait");
  const DistributedSystemDescription parsed =
      ParseTest(absl::Substitute("services { admission { $0 } }", admission));
  *test.mutable_services(1)->mutable_admission() =
      parsed.services(0).admission();
  return test.DebugString();
}

struct QueueOutcome {
  int64_t succeeded = 0;
  int64_t failed = 0;
  AdmissionLog admission;
  stats::LogHistogram wait_ns;
  stats::LogHistogram service_time_ns;
  std::string error;
};

QueueOutcome RunQueue(const std::string& config, int workers = 1) {
  VirtualTimeSystem system(ParseTest(config),
                           {.workers = workers, .sample_memory_bytes = 0});
  EXPECT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcStatistics statistics = StatisticsOf(logs, "client/0", "server/0");
  QueueOutcome outcome;
  outcome.succeeded = statistics.succeeded_count();
  outcome.failed = statistics.failed_count();
  outcome.admission = logs.instance_logs().at("server/0").admission_log();
  EXPECT_TRUE(
      results::AddHistogram(outcome.admission.wait_ns(), outcome.wait_ns).ok());
  EXPECT_TRUE(results::AddHistogram(statistics.service_time_ns(),
                                    outcome.service_time_ns)
                  .ok());
  const ErrorDictionary& errors =
      logs.instance_logs().at("client/0").error_dictionary();
  if (errors.error_message_size() > 1) outcome.error = errors.error_message(1);
  EXPECT_EQ(outcome.admission.admitted_count(), outcome.succeeded);
  EXPECT_EQ(outcome.admission.refused_count(), outcome.failed);
  EXPECT_EQ(outcome.wait_ns.count(), outcome.succeeded);
  return outcome;
}

// The requests of an M/M/1/K queue that find it full.
double BlockingProbability(double load, int places) {
  return (1 - load) * std::pow(load, places) / (1 - std::pow(load, places + 1));
}

TEST(AdmissionTest, RefusesAsManyAsAnMm1kQueue) {
  constexpr int kRequests = 100'000;
  const QueueOutcome outcome = RunQueue(
      Queue(absl::Substitute("rate: '900/s' open_loop_interval_distribution: "
                             "'exponential' max_iteration_count: $0",
                             kRequests),
            "max_running: 1 max_waiting: 4", "exponential"));
  EXPECT_EQ(outcome.succeeded + outcome.failed, kRequests);
  EXPECT_NEAR(static_cast<double>(outcome.failed) / kRequests,
              BlockingProbability(0.9, 5), 0.006);
  EXPECT_THAT(outcome.error, HasSubstr("RESOURCE_EXHAUSTED: too many requests "
                                       "wait at the server"));
}

// Erlang's C formula: the mean wait of an M/M/c queue.
double MeanWaitMs(double load, int servers) {
  const double offered = load * servers;
  double term = 1;
  double sum = 0;
  for (int k = 0; k < servers; ++k) {
    sum += term;
    term *= offered / (k + 1);
  }
  const double waiting = term / (1 - load);
  return waiting / (sum + waiting) / (servers * (1 - load) / kMeanMs);
}

TEST(AdmissionTest, WaitsAsLongAsAnMmcQueue) {
  const QueueOutcome outcome = RunQueue(
      Queue("rate: '3000/s' open_loop_interval_distribution: 'exponential' "
            "max_iteration_count: 100000",
            "max_running: 4", "exponential"));
  EXPECT_EQ(outcome.failed, 0);
  const double expected_ms = MeanWaitMs(0.75, 4);
  EXPECT_NEAR(outcome.wait_ns.mean() / kMs, expected_ms, 0.06 * expected_ms);
  EXPECT_NEAR(outcome.service_time_ns.mean() / kMs, expected_ms + kMeanMs,
              0.06 * expected_ms);
}

TEST(AdmissionTest, RunsOneAfterTheOther) {
  const QueueOutcome outcome =
      RunQueue(Queue("max_iteration_count: 5 max_parallel_iterations: 5",
                     "max_running: 1 max_waiting: 3", "fixed"));
  EXPECT_EQ(outcome.succeeded, 4);
  EXPECT_EQ(outcome.failed, 1);
  EXPECT_NEAR(outcome.wait_ns.sum(), (0 + 1 + 2 + 3) * kMs, 0.1 * kMs);
}

TEST(AdmissionTest, WorkersShareTheLimits) {
  for (const int workers : {2, 3, 4}) {
    const QueueOutcome outcome =
        RunQueue(Queue("max_iteration_count: 20 max_parallel_iterations: 20",
                       "max_running: 3 max_waiting: 2", "fixed"),
                 workers);
    // Each worker runs one at least.
    EXPECT_EQ(outcome.succeeded, workers == 4 ? 6 : 5) << workers;
  }
}

TEST(AdmissionTest, RequestsWithoutActionsPassBy) {
  DistributedSystemDescription test =
      ParseTest(Queue("max_iteration_count: 100 max_parallel_iterations: 100",
                      "max_running: 1 max_waiting: 0", "fixed"));
  test.mutable_action_lists(1)->clear_action_names();
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").succeeded_count(), 100);
  EXPECT_EQ(
      logs.instance_logs().at("server/0").admission_log().admitted_count(), 0);
}

TEST(AdmissionTest, StoppingRefusesTheRequestsThatWait) {
  VirtualTimeSystem system(
      ParseTest(Queue("max_iteration_count: 50 max_parallel_iterations: 50",
                      "max_running: 1", "fixed")),
      {.workers = 1});
  system.RunFor(10 * kMs + kMs / 2);
  system.StopAll("enough");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcStatistics statistics = StatisticsOf(logs, "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count() + statistics.failed_count(), 50);
  EXPECT_NEAR(statistics.succeeded_count(), 10, 2);
  // They were not refused for being too many.
  EXPECT_EQ(logs.instance_logs().at("server/0").admission_log().refused_count(),
            0);
}

// Of the requests that wait, most lists end at once and make room for the next:
// they must not be nested in each other.
TEST(AdmissionTest, ListsThatEndAtOnceDoNotNest) {
  constexpr int kRequests = 200'000;
  DistributedSystemDescription test = ParseTest(Queue(
      absl::Substitute("max_iteration_count: $0 max_parallel_iterations: $0",
                       kRequests),
      "max_running: 1", "fixed"));
  (*test.mutable_action_lists(1)->mutable_predicate_probabilities())["slow"] =
      0.0001;
  for (Action& action : *test.mutable_actions()) {
    if (action.name() == "wait") action.add_predicates("slow");
  }
  const QueueOutcome outcome = RunQueue(test.DebugString());
  EXPECT_EQ(outcome.succeeded, kRequests);
  EXPECT_GT(outcome.wait_ns.max(), 5 * kMs);
}

// Faults come first: an error takes no place.
TEST(AdmissionTest, ErrorsOfFaultsTakeNoPlaces) {
  VirtualTimeSystem system(
      ParseTest(Queue("max_iteration_count: 3 max_parallel_iterations: 3",
                      "max_running: 1 max_waiting: 0", "fixed",
                      "server_faults { name: 'broken' service: 'server' "
                      "error_code: 'INTERNAL' }")),
      {.workers = 1});
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").failed_count(), 3);
  const ServicePerformanceLog& server = logs.instance_logs().at("server/0");
  EXPECT_EQ(server.fault_logs().at("broken").request_count(), 3);
  EXPECT_EQ(server.admission_log().admitted_count(), 0);
  EXPECT_EQ(server.admission_log().refused_count(), 0);
}

TEST(AdmissionTest, DelayedAnswersKeepNoPlaces) {
  const std::string faults = R"pb(
    server_faults { name: "slow" service: "server" extra_latency: "1000ms" })pb";
  VirtualTimeSystem system(
      ParseTest(Queue("max_iteration_count: 3 max_parallel_iterations: 3",
                      "max_running: 1", "fixed", faults)),
      {.workers = 1});
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 3);
  EXPECT_NEAR(statistics.service_time_ns().max(), 1003 * kMs, kMs);
}

}  // namespace
}  // namespace distbench::engine
