#include "distbench/search/search_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/search/search_table.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

RateKnob Knob() {
  DistributedSystemDescription test;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(services { name: "client" count: 1 }
         rpc_descriptions { name: "query" }
         action_lists { name: "client" action_names: "send" }
         actions {
           name: "send" iterations { open_loop_interval_ns: 10000000 }
         })",
      &test));
  return *RateKnob::Make(test);
}

// What a system measures whose latency grows with its load, up to what its
// client can send.
struct FakeSystem {
  double capacity;  // loads above miss 1 ms
  double sendable = 1e9;
  std::vector<double> loads;

  absl::StatusOr<TestResult> Run(const DistributedSystemDescription& test) {
    const double load =
        1e9 / test.actions(0).iterations().open_loop_interval_ns();
    loads.push_back(load);
    LogHistogram latency;
    for (int i = 0; i < 1000; ++i) {
      latency.Record(static_cast<int64_t>(1e6 * load / capacity));
    }
    TestResult result;
    *result.mutable_traffic_config() = test;
    ServicePerformanceLog& log =
        (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
    RpcStatistics& statistics =
        *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
             .mutable_statistics();
    statistics.set_succeeded_count(1000);
    statistics.set_first_start_timestamp_ns(0);
    statistics.set_last_end_timestamp_ns(1'000'000'000);
    EncodeHistogram(latency, *statistics.mutable_service_time_ns());
    EncodeHistogram(latency, *statistics.mutable_response_time_ns());
    OfferedLoad& offered = (*log.mutable_offered_loads())[0];
    offered.set_offered_count(1000);
    if (load > sendable) {
      offered.set_unsent_count(
          static_cast<int64_t>(1000 * (1 - sendable / load)));
    }
    return result;
  }
};

SearchCallbacks CallbacksOf(FakeSystem& system,
                            std::vector<std::string>& outcomes) {
  return {
      .run =
          [&](const DistributedSystemDescription& test) {
            return system.Run(test);
          },
      .announce = [](int, const ProbeRequest&, absl::Duration,
                     absl::Duration) {},
      .observe = [&](int, const MeasuredProbe& probe,
                     const TestResult&) { outcomes.push_back(probe.outcome); }};
}

std::vector<Objective> OneMillisecond() {
  return {*ParseObjective("query p95<=1ms")};
}

TEST(RunLoadSearchTest, ConvergesOnTheCapacity) {
  FakeSystem system = {.capacity = 777};
  std::vector<std::string> outcomes;
  const auto result =
      RunLoadSearch({.initial_load = 100}, {}, Knob(), OneMillisecond(),
                    CallbacksOf(system, outcomes));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->verdict, SearchVerdict::kConverged);
  EXPECT_NEAR(*result->load, 777, 16);
  EXPECT_EQ(outcomes.size(), system.loads.size());
}

TEST(RunLoadSearchTest, KnowsALateGenerator) {
  FakeSystem system = {.capacity = 1e6, .sendable = 500};
  std::vector<std::string> outcomes;
  const auto result =
      RunLoadSearch({.initial_load = 100}, {}, Knob(), OneMillisecond(),
                    CallbacksOf(system, outcomes));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->verdict, SearchVerdict::kGeneratorLimited);
  EXPECT_NEAR(*result->load, 500, 20);
}

TEST(RunLoadSearchTest, EndsWithTheFirstTestThatFails) {
  const auto result = RunLoadSearch(
      {}, {}, Knob(), OneMillisecond(),
      {.run =
           [](const DistributedSystemDescription&) {
             TestResult failed;
             failed.mutable_run_info()->set_failure("node1 was lost");
             return failed;
           },
       .announce = [](int, const ProbeRequest&, absl::Duration,
                      absl::Duration) {},
       .observe = [](int, const MeasuredProbe&, const TestResult&) {}});
  EXPECT_EQ(result.status(), absl::AbortedError("node1 was lost"));
}

TEST(RunLoadListTest, RunsEachLoadOnce) {
  FakeSystem system = {.capacity = 300};
  std::vector<std::string> outcomes;
  const auto all_met =
      RunLoadList({100, 200, 400}, {}, Knob(), OneMillisecond(),
                  CallbacksOf(system, outcomes));
  ASSERT_TRUE(all_met.ok()) << all_met.status();
  EXPECT_FALSE(*all_met);
  EXPECT_THAT(outcomes, ElementsAre("met", "met", "missed"));
  EXPECT_THAT(system.loads, ElementsAre(100, 200, 400));
}

TEST(ProbeTimeTest, GrowsUntilTheTailHasSamples) {
  const SearchTiming timing = {.probe = absl::Seconds(10),
                               .min_tail_samples = 100};
  const auto time = [&](double load, const std::string& objective) {
    return ProbeTime({.phase = ProbePhase::kRefine, .load = load}, timing,
                     {*ParseObjective(objective)});
  };
  EXPECT_EQ(time(1e6, "p99<=1s"), absl::Seconds(10));
  EXPECT_NEAR(absl::ToDoubleSeconds(time(500, "p99<=1s")), 20, 0.01);
  EXPECT_EQ(time(1, "p99<=1s"), absl::Seconds(100));  // as long as it gets
  EXPECT_EQ(time(1, "failures<=1%"), absl::Seconds(10));
}

TEST(SearchTableTest, BeginsWithTheCommonColumns) {
  EXPECT_THAT(SearchTableHeader(),
              StartsWith("duration_secs,total_queries,requested_qps,"));
  FakeSystem system = {.capacity = 300};
  const TestResult result = *system.Run(Knob().At(
      {.load = 150, .warmup = absl::Seconds(1), .measured = absl::Seconds(1)}));
  const auto probe = MeasureProbe({.phase = ProbePhase::kFinal, .load = 150},
                                  OneMillisecond(), result);
  ASSERT_TRUE(probe.ok()) << probe.status();
  const auto row = SearchTableRow(3, OneMillisecond().front(), *probe, result);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_THAT(*row,
              StartsWith("1.000,1000,150.00,1000.00,0,0,0.00,0.00,0.500"));
  EXPECT_THAT(*row, HasSubstr(",3,final,met,0,"));
  const std::string header = SearchTableHeader();
  EXPECT_EQ(std::count(row->begin(), row->end(), ','),
            std::count(header.begin(), header.end(), ','));
}

}  // namespace
}  // namespace distbench
