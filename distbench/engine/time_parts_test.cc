// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How the service time of an RPC divides into parts, on simulated time. Over
// the loopback driver, the server's queue is its inbox, and what counts as
// network is the wait of the response in the client's inbox.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/rpc_totals.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::engine {
namespace {

constexpr absl::string_view kMeasured = "measure_time_parts: true ";

// A client that sends 1000 requests per second for 10 s, and a server whose
// handler takes 300 us.
std::string OpenLoopTest(absl::string_view iterations = "",
                         absl::string_view more = kMeasured) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        delay_distribution_configs {
          name: "handling"
          pmf_points {
            pmf: 1
            data_points { exact: 300000 }
          }
        }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "work" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations {
            open_loop_interval_ns: 1000000
            max_duration_us: 10000000 $0
          }
        }
        actions { name: "work" delay_distribution_name: "handling" } $1)pb",
      iterations, more);
}

results::RpcTotals TotalsOf(const ServiceLogs& logs, int rpc_index = 0) {
  results::RpcTotals totals;
  EXPECT_TRUE(
      totals.Add(StatisticsOf(logs, "client/0", "server/0", rpc_index)).ok());
  return totals;
}

// The parts of every RPC that succeeded add up to its service time.
void ExpectWhole(const results::RpcTotals& totals) {
  ASSERT_GT(totals.service_time_ns.count(), 0u);
  double sum_ns = 0;
  for (const results::TimePart part : results::kTimeParts) {
    ASSERT_EQ(totals.time_parts_ns.at(part).count(),
              totals.service_time_ns.count())
        << results::NameOf(part);
    sum_ns += totals.time_parts_ns.at(part).sum();
  }
  EXPECT_NEAR(sum_ns, totals.service_time_ns.sum(),
              1e-6 * totals.service_time_ns.sum());
}

// Expects that all values of a part are as good as equal.
void ExpectAlways(const results::RpcTotals& totals, results::TimePart part,
                  int64_t time_ns) {
  const stats::LogHistogram& times_ns = totals.time_parts_ns.at(part);
  EXPECT_GE(times_ns.min(), time_ns) << results::NameOf(part);
  EXPECT_LE(times_ns.max(), time_ns + 1000) << results::NameOf(part);
}

void ExpectQuantile(const stats::LogHistogram& times_ns, double quantile,
                    double seconds) {
  EXPECT_NEAR(static_cast<double>(times_ns.ValueAtQuantile(quantile)) / 1e9,
              seconds, 0.05 * seconds)
      << "at " << quantile;
}

TEST(TimePartsTest, TheHandlerTakesWhatItsActionsTake) {
  VirtualTimeSystem system(OpenLoopTest());
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  ExpectAlways(totals, results::TimePart::kServerHandler, 300'000);
  ExpectAlways(totals, results::TimePart::kServerQueue, 0);
  ExpectAlways(totals, results::TimePart::kNetwork, 0);
}

// As in measuring_test.cc: a tenth of all requests wait for up to a second.
TEST(TimePartsTest, AFrozenServerLetsRequestsQueue) {
  VirtualTimeSystem system(OpenLoopTest());
  system.FreezeBetween("server/0", system.start_ns() + 4 * kSecond,
                       system.start_ns() + 5 * kSecond);
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  const stats::LogHistogram& queue_ns =
      totals.time_parts_ns.at(results::TimePart::kServerQueue);
  ExpectQuantile(queue_ns, 0.95, 0.5);
  ExpectQuantile(queue_ns, 0.99, 0.9);
  EXPECT_EQ(queue_ns.ValueAtQuantile(0.5), 0);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kServerHandler)
                .ValueAtQuantile(0.99),
            totals.time_parts_ns.at(results::TimePart::kServerHandler)
                .ValueAtQuantile(0.5));
  ExpectAlways(totals, results::TimePart::kNetwork, 0);
}

// Of two requests at a time, one waits until the other has been handled.
TEST(TimePartsTest, TheWaitForAdmissionIsTheQueues) {
  DistributedSystemDescription test = ParseTest(OpenLoopTest());
  test.mutable_services(1)->mutable_admission()->set_max_running(1);
  Iterations& iterations = *test.mutable_actions(0)->mutable_iterations();
  iterations.Clear();
  iterations.set_max_parallel_iterations(2);
  iterations.set_max_iteration_count(1000);
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  ExpectAlways(totals, results::TimePart::kServerHandler, 300'000);
  const stats::LogHistogram& queue_ns =
      totals.time_parts_ns.at(results::TimePart::kServerQueue);
  EXPECT_LE(queue_ns.min(), 1000) << "the first one";
  ExpectQuantile(queue_ns, 0.01, 300e-6);
  ExpectQuantile(queue_ns, 1, 300e-6);
}

// One that is in its handler at the time takes longer there.
TEST(TimePartsTest, AFreezeInTheMiddleOfAHandlerIsTheHandlers) {
  VirtualTimeSystem system(OpenLoopTest());
  // The handler of the request due after 4 s began then.
  system.FreezeBetween("server/0", system.start_ns() + 4 * kSecond + 100'000,
                       system.start_ns() + 4 * kSecond + 600'000);
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  EXPECT_NEAR(totals.time_parts_ns.at(results::TimePart::kServerHandler).max(),
              600'000, 1000);
  ExpectAlways(totals, results::TimePart::kServerQueue, 0);
}

TEST(TimePartsTest, AResponseThatIsNotReadInTimeIsNoPartOfTheServer) {
  VirtualTimeSystem system(OpenLoopTest());
  system.FreezeBetween("client/0", system.start_ns() + 4 * kSecond + 100'000,
                       system.start_ns() + 4 * kSecond + 500'000);
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  EXPECT_NEAR(totals.time_parts_ns.at(results::TimePart::kNetwork).max(),
              200'000, 1000);
  ExpectAlways(totals, results::TimePart::kServerHandler, 300'000);
}

// A request is due every 200 us, and one at a time takes 300 us: the n-th one
// waits for n * 100 us. In 30 ms there are 100.
TEST(TimePartsTest, ACapLetsRequestsWaitInTheClient) {
  DistributedSystemDescription test =
      ParseTest(OpenLoopTest("max_parallel_iterations: 1"));
  Iterations& iterations = *test.mutable_actions(0)->mutable_iterations();
  iterations.set_open_loop_interval_ns(200'000);
  iterations.set_max_duration_us(30'000);
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  ExpectQuantile(totals.lateness_ns, 0.5, 0.005);
  ExpectQuantile(totals.lateness_ns, 0.9, 0.009);
  ExpectAlways(totals, results::TimePart::kServerHandler, 300'000);
  ExpectAlways(totals, results::TimePart::kServerQueue, 0);
  ExpectAlways(totals, results::TimePart::kNetwork, 0);
  EXPECT_NEAR(totals.response_time_ns.sum(),
              totals.lateness_ns.sum() + totals.service_time_ns.sum(), 1);
}

TEST(TimePartsTest, WithoutMeasuringThemThereAreNone) {
  VirtualTimeSystem system(OpenLoopTest("", /*more=*/""));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcPerformanceLog& log = LogOf(logs, "client/0", "server/0", 0);
  EXPECT_FALSE(log.statistics().has_network_ns());
  EXPECT_FALSE(log.successful_rpc_samples(0).has_server_queue_ns());
}

TEST(TimePartsTest, SamplesHaveThem) {
  VirtualTimeSystem system(OpenLoopTest());
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples();
  ASSERT_EQ(samples.size(), 10'001);
  for (const RpcSample& sample : samples) {
    ASSERT_TRUE(sample.has_server_queue_ns());
    ASSERT_NEAR(sample.server_handler_ns(), 300'000, 1000);
    ASSERT_NEAR(sample.server_queue_ns() + sample.server_handler_ns(),
                sample.latency_ns(), 1000);
  }
}

TEST(TimePartsTest, SamplesOfListsThatKeepFewHaveThem) {
  DistributedSystemDescription test = ParseTest(absl::StrCat(
      kMeasured, ClientServer("iterations { max_iteration_count: 9 }")));
  test.mutable_action_lists(0)->set_max_rpc_samples(2);
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples();
  ASSERT_EQ(samples.size(), 2);
  EXPECT_TRUE(samples[0].has_server_handler_ns());
}

TEST(TimePartsTest, ProcessingOfReplayedRequestsIsTheirHandlers) {
  VirtualTimeSystem system(R"pb(
    measure_time_parts: true
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    rpc_replay_traces {
      name: "trace"
      client: "client"
      server: "server"
      records {
        request_size: 100
        response_size: 100
        server_processing_time_ns: 5000000
      }
    }
    action_lists { name: "client" action_names: "run" }
    actions { name: "run" rpc_replay_trace_name: "trace" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const results::RpcTotals totals = TotalsOf(logs);
  ExpectWhole(totals);
  ExpectAlways(totals, results::TimePart::kServerHandler, 5 * kMs);
  const RpcReplayTraceLog& log =
      logs.instance_logs().at("client/0").replay_trace_logs(0);
  EXPECT_NEAR(log.rpc_samples().at(0).server_handler_ns(), 5 * kMs, 1000);
}

// A server that calls another one waits for it in its handler.
TEST(TimePartsTest, RpcsOfAHandlerAreTheHandlers) {
  VirtualTimeSystem system(R"pb(
    measure_time_parts: true
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    services { name: "leaf" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "handling"
      pmf_points {
        pmf: 1
        data_points { exact: 2000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    rpc_descriptions { name: "ask" client: "server" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "ask_leaf" }
    action_lists { name: "ask" action_names: "work" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 10 }
    }
    actions { name: "ask_leaf" rpc_name: "ask" }
    actions { name: "work" delay_distribution_name: "handling" }
  )pb");
  ASSERT_TRUE(system.Run());
  const results::RpcTotals totals = TotalsOf(system.Finish());
  ExpectWhole(totals);
  ExpectAlways(totals, results::TimePart::kServerHandler, 2 * kMs);
}

TEST(TimePartsTest, FailuresHaveNone) {
  DistributedSystemDescription test = ParseTest(OpenLoopTest());
  test.mutable_rpc_descriptions(0)->set_deadline_us(100);
  VirtualTimeSystem system(test, /*workers=*/1);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcPerformanceLog& log = LogOf(logs, "client/0", "server/0", 0);
  EXPECT_EQ(log.statistics().succeeded_count(), 0);
  EXPECT_EQ(log.statistics().failed_count(), 10'001);
  EXPECT_FALSE(log.statistics().has_server_handler_ns());
  EXPECT_FALSE(log.failed_rpc_samples(0).has_server_handler_ns());
}

TEST(TimePartsTest, DecoratorsPassThemOn) {
  VirtualTimeSystem system(OpenLoopTest("", R"pb(
    measure_time_parts: true
    protocol_driver_options {
      name: "default_protocol_driver_options"
      protocol_name: "double_barrel"
      server_settings { name: "next_protocol_driver" string_value: "counted" }
    }
    protocol_driver_options {
      name: "counted"
      protocol_name: "composable_rpc_counter"
      server_settings { name: "driver_under_test" string_value: "loopback" }
    })pb"));
  ASSERT_TRUE(system.Run());
  ExpectWhole(TotalsOf(system.Finish()));
}

}  // namespace
}  // namespace distbench::engine
