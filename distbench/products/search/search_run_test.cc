// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/search_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/search/testing/simulated_queue.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

DistributedSystemDescription MakeSearchedTest() {
  DistributedSystemDescription test = SimulatedTest(10'000'000);
  *test.mutable_search() = base::FromText<LoadSearchSpec>(
      "objectives: 'query p95<=1ms' initial_load: 100");
  return test;
}

SearchPlan Plan(int instances = 1) {
  auto plan = PlanSearch({}, MakeSearchedTest(), instances);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

double LoadOf(const DistributedSystemDescription& test) {
  return 1e9 / test.actions(0).iterations().open_loop_interval_ns();
}

// Measurements of a system whose latency grows with the load, up to what its
// clients can send.
struct FakeSystem {
  double capacity;  // loads of a copy above miss 1 ms
  double sendable = 1e9;
  std::vector<double> loads;
  std::set<std::string> lost_clients;
  double slow_share = 1;  // share of its load that the last copy carries
  bool counts_unsent = false;  // whether it counts the rest as unsent
  int runs_until_error = 1000;

  absl::StatusOr<TestResult> Run(const DistributedSystemDescription& test,
                                 const ProgressWatcher& watch) {
    if (--runs_until_error < 0) return absl::CancelledError("stopped");
    const double load = LoadOf(test);
    loads.push_back(load);
    TestResult result;
    *result.mutable_traffic_config() = test;
    result.mutable_traffic_config()->set_random_seed(loads.size());
    result.mutable_run_info()->set_start_timestamp_ns(1'000'000'000);
    result.mutable_run_info()->set_end_timestamp_ns(13'000'000'000);
    for (int rpc = 0; rpc < test.rpc_descriptions_size(); ++rpc) {
      AddClient(test, rpc, load, result);
    }
    RunTestsEvent event;
    event.mutable_started();
    watch(event);
    return result;
  }

  void AddClient(const DistributedSystemDescription& test, int rpc, double load,
                 TestResult& result) const {
    const std::string client = test.rpc_descriptions(rpc).client(0) + "/0";
    (*result.mutable_placement()->mutable_service_endpoints())[client]
        .set_node_alias("node7");
    if (lost_clients.contains(client)) {
      result.mutable_run_info()->set_failure("node7 was lost");
      return;
    }
    const bool is_last = rpc > 0 && rpc == test.rpc_descriptions_size() - 1;
    const int count = static_cast<int>(1000 * (is_last ? slow_share : 1));
    stats::LogHistogram latency;
    for (int i = 0; i < count; ++i) {
      latency.Record(static_cast<int64_t>(1e6 * load / capacity));
    }
    ServicePerformanceLog& log =
        (*result.mutable_service_logs()->mutable_instance_logs())[client];
    RpcStatistics& statistics =
        *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[rpc]
             .mutable_statistics();
    statistics.set_succeeded_count(count);
    statistics.set_first_start_timestamp_ns(0);
    statistics.set_last_end_timestamp_ns(1'000'000'000);
    results::EncodeHistogram(latency, *statistics.mutable_service_time_ns());
    results::EncodeHistogram(latency, *statistics.mutable_response_time_ns());
    AddSeries(count, static_cast<int64_t>(1e6 * load / capacity),
              (*log.mutable_rpc_time_series())[rpc]);
    OfferedLoad& offered = (*log.mutable_offered_loads())[rpc];
    offered.set_offered_count(1000);
    if (counts_unsent) offered.set_unsent_count(1000 - count);
    if (load > sendable) {
      offered.set_unsent_count(
          static_cast<int64_t>(1000 * (1 - sendable / load)));
    }
  }

  // Ten seconds, all alike.
  static void AddSeries(int count, int64_t latency_ns, RpcTimeSeries& series) {
    series.set_interval_ns(1'000'000'000);
    for (int second = 0; second < 10; ++second) {
      stats::LogHistogram latency;
      latency.RecordN(latency_ns, count / 10);
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(second);
      interval.set_succeeded_count(count / 10);
      results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
      results::EncodeHistogram(latency, *interval.mutable_response_time_ns());
    }
  }

  SearchCallbacks Callbacks() {
    return {.run = [this](const DistributedSystemDescription& test,
                          const ProgressWatcher& watch) {
      return Run(test, watch);
    }};
  }
};

std::vector<std::string> Outcomes(const SearchReport& report) {
  std::vector<std::string> outcomes;
  for (const SearchProbe& probe : report.probes()) {
    outcomes.push_back(probe.outcome());
  }
  return outcomes;
}

TEST(RunLoadSearchTest, ConvergesOnTheCapacityAndReportsIt) {
  FakeSystem system = {.capacity = 777};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  ASSERT_THAT(results.searches(), SizeIs(1));
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged");
  EXPECT_TRUE(HasAnswer(report));
  EXPECT_NEAR(report.load(), 777, 16);
  EXPECT_EQ(report.load_unit(), "iterations per second");
  EXPECT_EQ(report.search().tolerance(), 0.02);
  EXPECT_EQ(report.probes_size(), system.loads.size());
  EXPECT_EQ(report.min_load(), report.load());
  EXPECT_NEAR(report.max_load(), 777, 10);
  EXPECT_EQ(report.confidence_level(), 0.95);
  EXPECT_TRUE(report.is_proven());
  // Only the final run is kept.
  ASSERT_THAT(results.test_results(), SizeIs(1));

  const SearchProbe& last = *report.probes().rbegin();
  EXPECT_EQ(last.phase(), "final");
  EXPECT_EQ(last.statistics().succeeded_count(), 1000);
  EXPECT_EQ(last.start_timestamp_ns(), 3'000'000'000);  // after the warm-up
  EXPECT_EQ(last.end_timestamp_ns(), 13'000'000'000);
  ASSERT_THAT(last.measured(), SizeIs(1));
  EXPECT_THAT(last.measured(0), HasSubstr("p95"));
  ASSERT_THAT(last.load_of_limit(), SizeIs(1));
  EXPECT_NEAR(last.load_of_limit(0), report.load() / 777, 0.01);
}

TEST(RunLoadSearchTest, KnowsALateGenerator) {
  FakeSystem system = {.capacity = 1e6, .sendable = 500};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "generator_limited");
  EXPECT_NEAR(results.searches(0).load(), 500, 20);
}

TEST(RunLoadSearchTest, EndsWithARunThatFails) {
  FakeSystem system = {.capacity = 777, .lost_clients = {"client/0"}};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), kInvalidVerdict);
  EXPECT_THAT(report.evidence(), HasSubstr("probe 1: node7 was lost"));
  EXPECT_THAT(Outcomes(report), ElementsAre("failed"));
  EXPECT_FALSE(HasAnswer(report));
}

// Runs of the system that have a finding that makes their numbers false.
SearchCallbacks InvalidRuns(FakeSystem& system, const std::string& code) {
  return {.run = [&system, code](const DistributedSystemDescription& test,
                                 const ProgressWatcher& watch) {
    absl::StatusOr<TestResult> result = system.Run(test, watch);
    Finding& finding = *result->mutable_run_info()->add_findings();
    finding.set_severity(Finding::INVALID);
    finding.set_code(code);
    finding.set_message("numbers are false");
    return result;
  }};
}

TEST(RunLoadSearchTest, AnswersNothingByInvalidRuns) {
  const std::vector<std::pair<std::string, std::string>> verdicts = {
      {"failed_rpcs", "objective_unreachable"},
      {"late_sends", "generator_limited"},
      {"binding_not_held", "invalid"}};
  for (const auto& [code, verdict] : verdicts) {
    FakeSystem system = {.capacity = 777};
    TestSequenceResults results;
    ASSERT_TRUE(RunLoadSearch(Plan(), InvalidRuns(system, code), results).ok());
    const SearchReport& report = results.searches(0);
    EXPECT_EQ(report.verdict(), verdict) << code;
    EXPECT_NE(ExitCodeOf(report), 0) << code;
    EXPECT_THAT(*report.probes(0).measured().rbegin(),
                HasSubstr("is invalid: numbers are false"));
  }
}

TEST(RunLoadSearchTest, AnInvalidRunOfAListMeetsNothing) {
  for (const char* code : {"failed_rpcs", "late_sends", "binding_not_held"}) {
    FakeSystem system = {.capacity = 777};
    SearchPlan plan = Plan();
    ASSERT_TRUE(RunLoads({100, 200}, plan).ok());
    TestSequenceResults results;
    ASSERT_TRUE(RunLoadSearch(plan, InvalidRuns(system, code), results).ok());
    EXPECT_NE(ExitCodeOf(results.searches(0)), 0) << code;
    EXPECT_FALSE(results.searches(0).has_load()) << code;
  }
}

// As where RPCs take longer than a probe.
TEST(RunLoadSearchTest, AProbeThatMeasuresNothingFailsAndRunsAgain) {
  FakeSystem system = {.capacity = 777};
  SearchCallbacks callbacks = system.Callbacks();
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    absl::StatusOr<TestResult> result = system.Run(test, watch);
    if (system.loads.size() != 3) return result;
    for (auto& [name, log] :
         *result->mutable_service_logs()->mutable_instance_logs()) {
      log.clear_peer_logs();
      log.clear_rpc_time_series();
    }
    return result;
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), callbacks, results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_THAT(Outcomes(report), ElementsAre("met", "met", "failed"));
  EXPECT_EQ(report.verdict(), kInvalidVerdict);
  EXPECT_THAT(report.evidence(), HasSubstr("probe 3: "));
  EXPECT_THAT(report.probes(2).measured(), SizeIs(1));

  ASSERT_TRUE(RunLoadSearch(Plan(), callbacks, results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "converged");
}

TEST(RunLoadSearchTest, TakesWhatDoesNotEndForAMiss) {
  FakeSystem system = {.capacity = 777};
  SearchCallbacks callbacks = system.Callbacks();
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    auto result = system.Run(test, watch);
    if (system.loads.back() < 1000) return result;
    result->mutable_run_info()->set_failure("the traffic did not end");
    result->mutable_run_info()->set_end_timestamp_ns(100'000'000'000);
    return result;
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), callbacks, results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "converged");
  EXPECT_NEAR(results.searches(0).load(), 777, 16);
}

// As when too many requests are in flight, or memory runs out.
TEST(RunLoadSearchTest, GoesDownFromAnOverload) {
  for (const int instances : {1, 2}) {
    FakeSystem system = {.capacity = 777};
    SearchCallbacks callbacks = system.Callbacks();
    callbacks.run = [&](const DistributedSystemDescription& test,
                        const ProgressWatcher& watch) {
      auto result = system.Run(test, watch);
      if (system.loads.back() < 1000) return result;
      result->mutable_run_info()->set_failure("too many RPCs were pending");
      result->mutable_run_info()->set_overloaded(true);
      // All instances are then told to end.
      for (auto& [name, log] :
           *result->mutable_service_logs()->mutable_instance_logs()) {
        log.set_engine_error_message("the node was told to end");
      }
      return result;
    };
    TestSequenceResults results;
    ASSERT_TRUE(RunLoadSearch(Plan(instances), callbacks, results).ok());
    EXPECT_EQ(results.searches(0).verdict(), "converged");
    EXPECT_NEAR(results.searches(0).load(), instances * 777, instances * 16);
  }
}

TEST(RunLoadSearchTest, SaysWhatDisturbedItsProbes) {
  FakeSystem system = {.capacity = 777};
  SearchCallbacks callbacks = system.Callbacks();
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    auto result = system.Run(test, watch);
    Finding& finding = *result->mutable_run_info()->add_findings();
    finding.set_severity(Finding::WARN);
    finding.set_code("waited_for_cpu");
    finding.set_message("others ran");
    return result;
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), callbacks, results).ok());
  for (const SearchProbe& probe : results.searches(0).probes()) {
    EXPECT_THAT(probe.disturbances(), ElementsAre("others ran"));
  }
}

// ---- Resumption -------------------------------------------------------------

// Offered by each of the tests whose results are kept.
std::vector<double> KeptLoads(const TestSequenceResults& results) {
  std::vector<double> loads;
  for (const TestResult& result : results.test_results()) {
    loads.push_back(LoadOf(result.traffic_config()));
  }
  return loads;
}

// A search that has run through.
struct WholeSearch {
  explicit WholeSearch(const SearchPlan& plan) {
    EXPECT_TRUE(RunLoadSearch(plan, system.Callbacks(), results).ok());
  }
  FakeSystem system = {.capacity = 777};
  TestSequenceResults results;
};

SearchPlan ListPlan() {
  SearchPlan plan = Plan();
  EXPECT_TRUE(RunLoads({100, 800, 400}, plan).ok());
  return plan;
}

// What is left of results whose program was killed.
TestSequenceResults FromFile(const TestSequenceResults& results) {
  TestSequenceResults read;
  EXPECT_TRUE(read.ParseFromString(results.SerializeAsString()));
  return read;
}

TEST(ResumptionTest, ASearchThatIsCutAtAnyStepEndsAsIfItWasNot) {
  for (const bool is_list : {false, true}) {
    const SearchPlan plan = is_list ? ListPlan() : Plan();
    const WholeSearch whole(plan);
    const int count = static_cast<int>(whole.system.loads.size());
    ASSERT_GT(count, 2);
    for (int cut = 0; cut < count; ++cut) {
      FakeSystem stopped = {.capacity = 777, .runs_until_error = cut};
      TestSequenceResults results;
      TestSequenceResults saved;
      SearchCallbacks callbacks = stopped.Callbacks();
      callbacks.save = [&](const TestSequenceResults& known) {
        saved = FromFile(known);
        return absl::OkStatus();
      };
      EXPECT_EQ(RunLoadSearch(plan, callbacks, results).code(),
                absl::StatusCode::kCancelled);
      if (cut > 0) EXPECT_FALSE(saved.searches(0).has_verdict());

      FakeSystem resumed = {.capacity = 777};
      ASSERT_TRUE(RunLoadSearch(plan, resumed.Callbacks(), saved).ok());
      EXPECT_TRUE(MessageDifferencer::Equals(saved.searches(0),
                                             whole.results.searches(0)))
          << cut;
      EXPECT_EQ(KeptLoads(saved), KeptLoads(whole.results));
      // Nothing has run twice.
      std::vector<double> loads = stopped.loads;
      loads.insert(loads.end(), resumed.loads.begin(), resumed.loads.end());
      EXPECT_EQ(loads, whole.system.loads);
    }
  }
}

TEST(ResumptionTest, WhatFailedAtAnyStepRunsAgainAndTakesNothingAway) {
  for (const bool is_list : {false, true}) {
    const SearchPlan plan = is_list ? ListPlan() : Plan();
    const WholeSearch whole(plan);
    const int count = static_cast<int>(whole.system.loads.size());
    for (int step = 0; step < count; ++step) {
      FakeSystem stopped = {.capacity = 777, .runs_until_error = step};
      TestSequenceResults results;
      RunLoadSearch(plan, stopped.Callbacks(), results).IgnoreError();
      const std::vector<double> kept = KeptLoads(results);
      FakeSystem lossy = {.capacity = 777, .lost_clients = {"client/0"}};
      ASSERT_TRUE(RunLoadSearch(plan, lossy.Callbacks(), results).ok());
      EXPECT_EQ(results.searches(0).verdict(), kInvalidVerdict);
      EXPECT_THAT(lossy.loads, ElementsAre(whole.system.loads[step]));
      if (step > 0) EXPECT_EQ(KeptLoads(results), kept);

      FakeSystem resumed = {.capacity = 777};
      ASSERT_TRUE(RunLoadSearch(plan, resumed.Callbacks(), results).ok());
      const SearchReport& report = results.searches(0);
      EXPECT_EQ(report.verdict(), whole.results.searches(0).verdict());
      EXPECT_EQ(report.load(), whole.results.searches(0).load());
      EXPECT_EQ(report.probes_size(), count + 1);
      EXPECT_EQ(KeptLoads(results), KeptLoads(whole.results));
      EXPECT_EQ(resumed.loads.size(), count - step);
    }
  }
}

// A load of the list would be taken for a final run that met.
TEST(ResumptionTest, AListIsNoSearchAndASearchNoList) {
  FakeSystem system = {.capacity = 777, .runs_until_error = 1};
  TestSequenceResults of_list;
  RunLoadSearch(ListPlan(), system.Callbacks(), of_list).IgnoreError();
  EXPECT_THAT(std::string(CheckResumable(Plan(), of_list).message()),
              AllOf(HasSubstr("another search"), HasSubstr("loads[0]")));
  system.runs_until_error = 3;
  TestSequenceResults of_search;
  RunLoadSearch(Plan(), system.Callbacks(), of_search).IgnoreError();
  EXPECT_THAT(std::string(CheckResumable(ListPlan(), of_search).message()),
              HasSubstr("loads[0]"));
  EXPECT_TRUE(CheckResumable(Plan(), of_search).ok());
}

TEST(ResumptionTest, MoreProbesContinueASearch) {
  const WholeSearch whole(Plan());
  SearchPlan few = Plan();
  few.spec.set_max_probes(few.options.max_probes = 4);
  FakeSystem system = {.capacity = 777};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(few, system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "budget_exhausted");
  EXPECT_FALSE(results.searches(0).is_proven());
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  EXPECT_EQ(system.loads, whole.system.loads);
  EXPECT_TRUE(MessageDifferencer::Equals(results.searches(0),
                                         whole.results.searches(0)));
  EXPECT_THAT(std::string(CheckResumable(few, results).message()),
              HasSubstr("more than the 4 of max_probes"));
}

TEST(ResumptionTest, MoreTimeContinuesAListAndASearch) {
  for (const bool is_list : {false, true}) {
    const SearchPlan plan = is_list ? ListPlan() : Plan();
    const WholeSearch whole(plan);
    SearchPlan brief = is_list ? ListPlan() : Plan();
    // The fake says that each run takes 12 s, a load of the list needs 62 s.
    brief.timing.max_total = absl::Seconds(is_list ? 80 : 50);
    FakeSystem system = {.capacity = 777};
    TestSequenceResults results;
    ASSERT_TRUE(RunLoadSearch(brief, system.Callbacks(), results).ok());
    EXPECT_EQ(results.searches(0).verdict(), "budget_exhausted");
    EXPECT_THAT(results.searches(0).evidence(), HasSubstr("of traffic"));
    EXPECT_LT(system.loads.size(), whole.system.loads.size());
    ASSERT_TRUE(RunLoadSearch(plan, system.Callbacks(), results).ok());
    EXPECT_EQ(system.loads, whole.system.loads);
    EXPECT_EQ(results.searches(0).verdict(),
              whole.results.searches(0).verdict());
  }
}

TEST(ResumptionTest, TheTimeIsKeptUntilAnotherIsAskedFor) {
  const auto plan_with = [](int64_t max_time_us) {
    LoadSearchSpec spec = Plan().spec;
    if (max_time_us > 0) spec.set_max_time_us(max_time_us);
    return *PlanSearch(spec, Plan().test);
  };
  const SearchPlan brief = plan_with(50'000'000);
  EXPECT_EQ(brief.timing.max_total, absl::Seconds(50));
  FakeSystem system = {.capacity = 777};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(brief, system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).search().max_time_us(), 50'000'000);
  // A command that continues takes what the file has.
  EXPECT_EQ(
      PlanSearch(results.searches(0).search(), Plan().test)->timing.max_total,
      absl::Seconds(50));
  ASSERT_TRUE(
      RunLoadSearch(plan_with(900'000'000), system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).search().max_time_us(), 900'000'000);
  EXPECT_EQ(results.searches(0).verdict(), "converged");
}

TEST(ResumptionTest, WhatEndedWithoutAnAnswerBeginsAnotherAttempt) {
  FakeSystem limited = {.capacity = 1e6, .sendable = 500};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), limited.Callbacks(), results).ok());
  ASSERT_EQ(results.searches(0).verdict(), "generator_limited");
  const int count = results.searches(0).probes_size();
  const WholeSearch whole(Plan());
  FakeSystem system = {.capacity = 777};
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  EXPECT_EQ(system.loads, whole.system.loads);
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged");
  EXPECT_EQ(report.load(), whole.results.searches(0).load());
  ASSERT_EQ(report.earlier_attempts_size(), 1);
  EXPECT_EQ(report.earlier_attempts(0).probes_size(), count);
  EXPECT_EQ(report.earlier_attempts(0).verdict(), "generator_limited");
  EXPECT_EQ(KeptLoads(results), KeptLoads(whole.results));

  // An answer stays.
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  EXPECT_EQ(system.loads.size(), whole.system.loads.size());
  EXPECT_EQ(results.searches(0).earlier_attempts_size(), 1);
}

TEST(ResumptionTest, ARecordThatWasNotAskedForIsRefused) {
  WholeSearch whole(Plan());
  whole.results.mutable_searches(0)->mutable_probes(2)->set_requested_load(150);
  const absl::Status refused = CheckResumable(Plan(), whole.results);
  EXPECT_THAT(
      std::string(refused.message()),
      AllOf(
          HasSubstr("probe 3 (bracket at 150"),
          HasSubstr("is not what is asked for in its place (bracket at 200")));
  EXPECT_EQ(RunLoadSearch(Plan(), whole.system.Callbacks(), whole.results),
            refused);
}

TEST(RunLoadSearchTest, DoesAFailedProbeAgain) {
  FakeSystem system = {.capacity = 777};
  TestSequenceResults results;
  system.lost_clients = {"client/0"};
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  system.lost_clients.clear();
  ASSERT_TRUE(RunLoadSearch(Plan(), system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "converged");
  EXPECT_THAT(results.test_results(), SizeIs(1));
}

// Reports show what is kept as what was found.
TEST(RunLoadSearchTest, KeepsTheProbeThatMetUntilThereIsAFinalRun) {
  bool any_missed = false;
  for (int runs = 2; runs <= 6; ++runs) {
    FakeSystem system = {.capacity = 777, .runs_until_error = runs};
    TestSequenceResults results;
    RunLoadSearch(Plan(), system.Callbacks(), results).IgnoreError();
    const SearchReport& report = results.searches(0);
    any_missed |= report.probes().rbegin()->outcome() == "missed";
    double highest = 0;
    for (const SearchProbe& probe : report.probes()) {
      if (probe.outcome() != "met") continue;
      highest = std::max(highest, probe.requested_load());
    }
    EXPECT_THAT(KeptLoads(results), ElementsAre(DoubleNear(highest, 0.01)));
  }
  EXPECT_TRUE(any_missed);
}

TEST(CheckResumableTest, NamesWhatDiffers) {
  FakeSystem system = {.capacity = 777, .runs_until_error = 4};
  TestSequenceResults results;
  RunLoadSearch(Plan(), system.Callbacks(), results).IgnoreError();
  EXPECT_TRUE(CheckResumable(Plan(), results).ok());
  const auto error = [&](const SearchPlan& plan) {
    return std::string(CheckResumable(plan, results).message());
  };
  LoadSearchSpec spec;
  spec.set_tolerance(0.1);
  EXPECT_EQ(error(*PlanSearch({}, MakeSearchedTest(), 1)), "");
  EXPECT_THAT(error(*PlanSearch(spec, MakeSearchedTest())),
              HasSubstr("tolerance"));
  DistributedSystemDescription other = MakeSearchedTest();
  other.mutable_services(1)->set_count(2);
  other.mutable_services(1)->set_x_size(2);
  EXPECT_THAT(error(*PlanSearch({}, other)),
              HasSubstr("test.services[1].count: 1 -> 2"));
  EXPECT_THAT(std::string(CheckResumable(Plan(), {}).message()),
              HasSubstr("no search"));
  // As of an older version.
  results.mutable_searches(0)->clear_instances();
  EXPECT_THAT(error(Plan()), HasSubstr("begun by an older version"));
}

TEST(CheckResumableTest, RealAndSimulatedProbesAreNotMixed) {
  SearchPlan real = Plan();
  SearchPlan simulated = Plan();
  simulated.is_simulated = true;
  for (const bool is_simulated : {false, true}) {
    FakeSystem system = {.capacity = 777, .runs_until_error = 2};
    TestSequenceResults results;
    RunLoadSearch(is_simulated ? simulated : real, system.Callbacks(), results)
        .IgnoreError();
    // As if all probes had ended early.
    results.clear_test_results();
    EXPECT_EQ(results.searches(0).simulated(), is_simulated);
    EXPECT_EQ(CheckResumable(real, results).ok(), !is_simulated);
    EXPECT_EQ(CheckResumable(simulated, results).ok(), is_simulated);
  }
}

TEST(CheckResumableTest, ProbesOfDifferentSimulatedHostsAreNotMixed) {
  const auto plan_on = [](int cpus, int hosts) {
    SearchPlan plan = Plan();
    plan.is_simulated = true;
    plan.simulated_fabric.mutable_host()->set_cpus(cpus);
    plan.simulated_hosts = hosts;
    return plan;
  };
  FakeSystem system = {.capacity = 777, .runs_until_error = 2};
  TestSequenceResults results;
  RunLoadSearch(plan_on(4, 0), system.Callbacks(), results).IgnoreError();
  const auto error = [&](const SearchPlan& plan) {
    return std::string(CheckResumable(plan, results).message());
  };
  EXPECT_EQ(error(plan_on(4, 0)), "");
  EXPECT_THAT(error(plan_on(8, 0)), HasSubstr("host.cpus: 4 -> 8"));
  EXPECT_THAT(error(plan_on(4, 9)), HasSubstr("hosts: 0 -> 9"));
}

TEST(RunLoadSearchTest, StopsInTime) {
  FakeSystem system = {.capacity = 777};
  SearchPlan plan = Plan();
  // Each probe takes 12 s or more.
  plan.timing.max_total = absl::Seconds(50);
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(plan, system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "budget_exhausted");
  EXPECT_LE(system.loads.size(), 4);
}

// A system about which too little is known for a proof.
TEST(RunLoadSearchTest, SaysSoIfThereIsNoTimeForAProof) {
  FakeSystem system = {.capacity = 777};
  SearchCallbacks callbacks = system.Callbacks();
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    auto result = system.Run(test, watch);
    // Without a series over time, nothing is known about dependence.
    auto& logs = *result->mutable_service_logs()->mutable_instance_logs();
    for (auto& [name, log] : logs) log.clear_rpc_time_series();
    return result;
  };
  SearchPlan plan = Plan();
  TestSequenceResults all;
  ASSERT_TRUE(RunLoadSearch(plan, callbacks, all).ok());
  EXPECT_EQ(all.searches(0).verdict(), "converged");
  EXPECT_FALSE(all.searches(0).is_proven());
  EXPECT_THAT(all.searches(0).evidence(), HasSubstr("met, not proven at 95 %"));
  // The final run and its repetitions of length 1, 2 and 4.
  EXPECT_THAT(all.test_results(), SizeIs(4));

  // Ends after the first final run. The fake says that each run takes 12 s, but
  // a final run needs time for 62 s, and the longest probe for 82 s.
  const int probes_before = all.searches(0).probes_size() - 4;
  plan.timing.max_total = probes_before * absl::Seconds(12) + absl::Seconds(72);
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(plan, callbacks, results).ok());
  EXPECT_EQ(results.searches(0).verdict(), "converged");
  EXPECT_EQ(results.searches(0).load(), all.searches(0).load());
  EXPECT_FALSE(results.searches(0).is_proven());
  EXPECT_LT(results.searches(0).probes_size(), all.searches(0).probes_size());
}

TEST(RunLoadSearchTest, RunsAListOnceEach) {
  FakeSystem system = {.capacity = 300};
  SearchPlan plan = Plan();
  ASSERT_TRUE(RunLoads({100, 200, 400}, plan).ok());
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(plan, system.Callbacks(), results).ok());
  EXPECT_THAT(Outcomes(results.searches(0)),
              ElementsAre("met", "met", "missed"));
  EXPECT_EQ(results.searches(0).verdict(), kNotAllMetVerdict);
  EXPECT_EQ(results.searches(0).load(), 200);
  EXPECT_THAT(results.test_results(), SizeIs(3));
  EXPECT_THAT(system.loads, ElementsAre(100, 200, 400));
  EXPECT_FALSE(results.searches(0).has_confidence_level());
}

// More load was easier than less: one of the two was chance.
TEST(RunLoadSearchTest, TheAnswerOfAListIsBelowAllThatMissed) {
  FakeSystem system = {.capacity = 1000};
  SearchPlan plan = Plan();
  ASSERT_TRUE(RunLoads({100, 200, 400}, plan).ok());
  SearchCallbacks callbacks = system.Callbacks();
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    system.capacity = LoadOf(test) == 200 ? 150 : 1000;
    return system.Run(test, watch);
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(plan, callbacks, results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_THAT(Outcomes(report), ElementsAre("met", "missed", "met"));
  EXPECT_EQ(report.verdict(), kNotAllMetVerdict);
  EXPECT_EQ(report.load(), 100);
  EXPECT_THAT(report.probes(0).measured(0), HasSubstr(" (95 % interval"));
}

TEST(RunLoadSearchTest, TellsTheBracketWithEachProbe) {
  FakeSystem system = {.capacity = 300};
  SearchCallbacks callbacks = system.Callbacks();
  std::vector<Bracket> brackets;
  callbacks.observe = [&](const SearchReport& report, const SearchProbe& probe,
                          const Bracket& bracket) {
    EXPECT_EQ(&probe, &*report.probes().rbegin());
    brackets.push_back(bracket);
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(), callbacks, results).ok());
  ASSERT_EQ(brackets.size(), results.searches(0).probes_size());
  EXPECT_FALSE(brackets.front().met.has_value());  // the warm-up
  EXPECT_LT(*brackets.back().met, *brackets.back().missed);

  brackets.clear();
  TestSequenceResults of_list;
  ASSERT_TRUE(RunLoadSearch(ListPlan(), callbacks, of_list).ok());
  ASSERT_THAT(brackets, SizeIs(3));
  EXPECT_FALSE(brackets.back().met.has_value());
  EXPECT_FALSE(brackets.back().missed.has_value());
}

// They say nothing about the system, unless another load missed.
TEST(RunLoadSearchTest, LoadsOfAListThatWereNotGeneratedAreNoMisses) {
  FakeSystem system = {.capacity = 1e6, .sendable = 150};
  SearchPlan plan = Plan();
  ASSERT_TRUE(RunLoads({100, 200}, plan).ok());
  TestSequenceResults limited;
  ASSERT_TRUE(RunLoadSearch(plan, system.Callbacks(), limited).ok());
  EXPECT_THAT(Outcomes(limited.searches(0)),
              ElementsAre("met", "generator_limited"));
  EXPECT_EQ(limited.searches(0).verdict(), "generator_limited");
  EXPECT_EQ(limited.searches(0).evidence(),
            "1 of 2 loads met, 1 could not be generated");
  EXPECT_EQ(limited.searches(0).load(), 100);
  EXPECT_EQ(ExitCodeOf(limited.searches(0)), 3);

  system.capacity = 50;
  TestSequenceResults missed;
  ASSERT_TRUE(RunLoadSearch(plan, system.Callbacks(), missed).ok());
  EXPECT_EQ(missed.searches(0).verdict(), kNotAllMetVerdict);
}

TEST(RunLoadSearchTest, EndsHopelessProbesEarly) {
  // Reports far too many slow responses as soon as the load exceeds the
  // capacity.
  int abandoned = 0;
  SearchPlan plan = Plan();
  plan.timing.warmup = absl::ZeroDuration();
  FakeSystem system = {.capacity = 300};
  absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  SearchCallbacks callbacks;
  callbacks.now = [&now] { return now; };
  callbacks.run = [&](const DistributedSystemDescription& test,
                      const ProgressWatcher& watch) {
    const auto result = system.Run(test, watch);
    if (system.loads.back() <= 300) return result;
    now += absl::Milliseconds(1600);
    RunTestsEvent event;
    stats::LogHistogram slow;
    for (int i = 0; i < 10'000; ++i) slow.Record(50'000'000);
    event.mutable_progress()->set_offered_count(100);
    TrafficProgress& progress = *event.mutable_progress();
    results::EncodeHistogram(slow, *progress.mutable_recent_response_time_ns());
    results::EncodeHistogram(slow, *progress.mutable_recent_service_time_ns());
    if (!watch(event)) {
      ++abandoned;
      return absl::StatusOr<TestResult>(absl::CancelledError("abandoned"));
    }
    return result;
  };
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(plan, callbacks, results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_NEAR(report.load(), 300, 10);
  EXPECT_GT(abandoned, 0);
  int infinite = 0;
  for (const SearchProbe& probe : report.probes()) {
    if (std::isinf(probe.excess())) ++infinite;
  }
  EXPECT_EQ(infinite, abandoned);
}

TEST(InstancesTest, AddUpAndAreReportedOneByOne) {
  FakeSystem system = {.capacity = 300};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(3), system.Callbacks(), results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), "converged") << report.evidence();
  EXPECT_NEAR(report.load(), 900, 18);
  const SearchProbe& last = *report.probes().rbegin();
  EXPECT_EQ(last.statistics().succeeded_count(), 3000);
  ASSERT_THAT(last.instance_statistics(), SizeIs(3));
  EXPECT_EQ(last.instance_statistics(1).succeeded_count(), 1000);
  EXPECT_THAT(last.instance_failures(), SizeIs(0));
}

TEST(InstancesTest, OneThatIsLostEndsTheSearchAndIsNamed) {
  FakeSystem system = {.capacity = 300, .lost_clients = {"2.client/0"}};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(3), system.Callbacks(), results).ok());
  const SearchReport& report = results.searches(0);
  EXPECT_EQ(report.verdict(), kInvalidVerdict);
  EXPECT_EQ(report.evidence(),
            "probe 1: node7 was lost; instance 2: nothing was heard of "
            "2.client/0 on node7");
  EXPECT_EQ(report.probes(0).instance_statistics(0).succeeded_count(), 1000);
  EXPECT_EQ(report.probes(0).instance_statistics(1).succeeded_count(), 0);
}

TEST(InstancesTest, OneThatFallsBehindEndsTheSearchAndIsNamed) {
  FakeSystem system = {.capacity = 300, .slow_share = 0.6};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(2), system.Callbacks(), results).ok());
  EXPECT_EQ(results.searches(0).verdict(), kInvalidVerdict);
  EXPECT_THAT(results.searches(0).evidence(),
              HasSubstr("instance 2 fell behind: it did 600 RPCs, the best one "
                        "1000"));
}

// What it never sent is no RPC that it did.
TEST(InstancesTest, OneThatDoesNotSendItsLoadHasFallenBehind) {
  FakeSystem system = {
      .capacity = 300, .slow_share = 0.6, .counts_unsent = true};
  TestSequenceResults results;
  ASSERT_TRUE(RunLoadSearch(Plan(2), system.Callbacks(), results).ok());
  const SearchProbe& first = results.searches(0).probes(0);
  ASSERT_THAT(first.instance_failures(), SizeIs(1));
  EXPECT_EQ(first.instance_failures(0),
            "instance 2 fell behind: it did 600 RPCs, the best one 1000");
}

}  // namespace
}  // namespace distbench::search
