// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/collectives/collectives.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/collectives/collectives_text.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::collectives {
namespace {

using ::distbench::base::FromText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kUs = 1000;
constexpr int64_t kPeriodUs = 1000;

// A row of ranks and another one, which all-reduce 4 MB.
TestResult TwoRows(int ranks = 4) {
  auto result = FromText<TestResult>(R"pb(
    traffic_config {
      services { name: "rank" y_size: 2 }
      actions {
        name: "reduce"
        record_iterations: true
        collective { operation: "all_reduce" algorithm: "ring" size: 4000000 }
      }
    }
  )pb");
  ServiceSpec& service = *result.mutable_traffic_config()->mutable_services(0);
  service.set_x_size(ranks);
  service.set_count(2 * ranks);
  return result;
}

// Adds iterations of a rank: of each, when it begins after the start of its
// period, and how long it takes, in microseconds.
void AddIterations(const std::string& rank, int count, int64_t begin_us,
                   int64_t duration_us, TestResult& result) {
  IterationLog& log =
      (*(*result.mutable_service_logs()->mutable_instance_logs())[rank]
            .mutable_iteration_logs())["reduce"];
  stats::LogHistogram times;
  for (int i = 0; i < count; ++i) {
    log.add_numbers(i);
    log.add_start_timestamps_ns((i * kPeriodUs + begin_us) * kUs);
    log.add_durations_ns(duration_us * kUs);
    times.Record(duration_us * kUs);
  }
  results::EncodeHistogram(times, *log.mutable_duration_ns());
}

// In the first row, rank 2 begins late, and the others wait for it.
TestResult WithSlowRank(int iterations = 30) {
  TestResult result = TwoRows();
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 4; ++x) {
      const bool is_slow = x == 2 && y == 0;
      AddIterations(absl::StrCat("rank/", x, "/", y), iterations,
                    is_slow ? 300 : x, is_slow ? 200 : 500 - x, result);
    }
  }
  return result;
}

std::vector<std::string> CodesOf(const TestResult& result) {
  report::FindingList findings;
  JudgeCollectives(result, findings);
  std::vector<std::string> codes;
  for (const Finding& finding : findings.Take()) {
    codes.push_back(absl::StrCat(finding.code(), ": ", finding.message()));
  }
  return codes;
}

TEST(BusFactorTest, IsThatOfTheField) {
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor("all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor("reduce_scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(BusFactor("all_to_all", 2), 0.5);
  EXPECT_DOUBLE_EQ(BusFactor("broadcast", 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor("pipeline", 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 1), 0);
}

TEST(MeasureCollectivesTest, MeasuresEachGroup) {
  const std::vector<MeasuredCollective> all =
      MeasureCollectives(WithSlowRank());
  ASSERT_EQ(all.size(), 2);
  const CollectiveTable::Row& slow = all[0].row;
  EXPECT_EQ(slow.group(), "rank/*/0");
  EXPECT_EQ(slow.ranks(), 4);
  EXPECT_EQ(slow.iterations(), 30);
  // Of 500, 499, 200 and 497 us.
  EXPECT_NEAR(slow.time_ns(), 424e3, 1e3);
  EXPECT_NEAR(slow.algorithm_bandwidth(), 4e6 / 424e-6, 0.01e10);
  EXPECT_NEAR(slow.bus_bandwidth(), 1.5 * slow.algorithm_bandwidth(), 1);
  EXPECT_DOUBLE_EQ(slow.whole().p50_ns(), 500e3);
  EXPECT_DOUBLE_EQ(slow.complete().max_ns(), 200e3);
  EXPECT_DOUBLE_EQ(slow.begin().p99_ns(), 300e3);
  EXPECT_DOUBLE_EQ(slow.end().p50_ns(), 0);
  EXPECT_EQ(slow.last_to_begin(), "rank/2/0");
  EXPECT_DOUBLE_EQ(slow.last_to_begin_share(), 1);
  EXPECT_FALSE(slow.has_clock_error_ns());

  EXPECT_EQ(all[1].row.group(), "rank/*/1");
  EXPECT_EQ(all[1].row.last_to_begin(), "rank/3/1");
  const CollectiveRankTable::Row& rank = all[0].ranks[2];
  EXPECT_EQ(rank.rank(), "rank/2/0");
  EXPECT_DOUBLE_EQ(rank.begins_later_ns(), 300e3);
  EXPECT_EQ(rank.last_to_begin_count(), 30);
  EXPECT_EQ(all[0].ranks[1].last_to_begin_count(), 0);
}

// The root of a chain has sent all iterations while the last two do one.
TEST(MeasureCollectivesTest, ABroadcastTakesAsLongAsTheSlowestRank) {
  TestResult result = TwoRows();
  CollectiveSpec& spec = *result.mutable_traffic_config()
                              ->mutable_actions(0)
                              ->mutable_collective();
  spec.set_operation("broadcast");
  for (int x = 0; x < 4; ++x) {
    AddIterations(absl::StrCat("rank/", x, "/0"), 30, 0, x < 2 ? 100 : 800,
                  result);
  }
  EXPECT_NEAR(MeasureCollectives(result)[0].row.time_ns(), 800e3, 1e3);
  spec.set_operation("all_reduce");
  EXPECT_NEAR(MeasureCollectives(result)[0].row.time_ns(), 450e3, 1e3);
}

// With four ranks, the first gets 3 messages of 2 chunks of 1.2 MB.
TEST(MeasureCollectivesTest, TheBusIsTheLinkOfWhoGetsMost) {
  TestResult result = TwoRows();
  DistributedSystemDescription& test = *result.mutable_traffic_config();
  test.mutable_actions(0)->mutable_collective()->set_operation("all_to_all");
  test.mutable_actions(0)->set_action_list_name("reduce");
  PayloadSpec& payload = *test.add_payload_descriptions();
  payload.set_name("share");
  ActionList& list = *test.add_action_lists();
  list.set_name("reduce");
  for (int i = 0; i < 6; ++i) {
    const std::string rpc = absl::StrCat("reduce_", i / 2);
    Action& send = *test.add_actions();
    send.set_name(absl::StrCat("send_", i));
    send.set_rpc_name(rpc);
    list.add_action_names(send.name());
    if (i % 2 == 1) continue;
    RpcSpec& spec = *test.add_rpc_descriptions();
    spec.set_name(rpc);
    spec.set_request_payload_name("share");
  }
  for (int x = 0; x < 4; ++x) {
    AddIterations(absl::StrCat("rank/", x, "/0"), 30, 0, 800, result);
  }
  const auto bus = [&] {
    return MeasureCollectives(result)[0].row.bus_bandwidth();
  };
  EXPECT_NEAR(bus(), 0.75 * 4e6 / 800e-6, 0.01e10) << "all get the same";
  for (const int64_t bytes : {1'200'000, 400'000, 300'000, 100'000}) {
    payload.add_sizes_by_instance(bytes);
  }
  EXPECT_NEAR(bus(), 3 * 2 * 1.2e6 / 800e-6, 0.01e10);
}

TEST(MeasureCollectivesTest, GroupsAreAlongTheAxis) {
  TestResult result = WithSlowRank();
  result.mutable_traffic_config()
      ->mutable_actions(0)
      ->mutable_collective()
      ->set_axis("y");
  std::vector<std::string> groups;
  for (const MeasuredCollective& each : MeasureCollectives(result)) {
    groups.push_back(each.row.group());
    EXPECT_EQ(each.row.ranks(), 2);
  }
  EXPECT_THAT(groups,
              ElementsAre("rank/0/*", "rank/1/*", "rank/2/*", "rank/3/*"));
}

TEST(MeasureCollectivesTest, ComparesWhatAllRanksHaveListed) {
  TestResult result = TwoRows(2);
  AddIterations("rank/0/0", 10, 0, 100, result);
  AddIterations("rank/1/0", 4, 50, 50, result);
  const std::vector<MeasuredCollective> all = MeasureCollectives(result);
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].row.iterations(), 4);
  EXPECT_EQ(all[0].ranks[1].last_to_begin_count(), 4);
}

// Adds the hosts of the first two ranks.
void AddHosts(int64_t clock_error_ns, TestResult& result,
              int64_t more_of_first_ns = 0) {
  const char* const kHosts[] = {"a", "b"};
  for (int x = 0; x < 2; ++x) {
    ServiceEndpoint& endpoint =
        (*result.mutable_placement()
              ->mutable_service_endpoints())[absl::StrCat("rank/", x, "/0")];
    endpoint.set_hostname(kHosts[x]);
    endpoint.set_node_alias(kHosts[x]);
    (*result.mutable_run_info()->mutable_clock_offsets())[kHosts[x]]
        .set_error_ns(clock_error_ns + (x == 0 ? more_of_first_ns : 0));
  }
}

TEST(MeasureCollectivesTest, SaysHowFarClocksMayBeApart) {
  TestResult result = TwoRows(2);
  AddIterations("rank/0/0", 30, 0, 500, result);
  AddIterations("rank/1/0", 30, 100, 400, result);
  AddHosts(/*clock_error_ns=*/20 * kUs, result);
  ASSERT_EQ(MeasureCollectives(result).size(), 1);
  EXPECT_EQ(MeasureCollectives(result)[0].row.clock_error_ns(), 40 * kUs);
  EXPECT_EQ(CodesOf(result).size(), 1);
  AddHosts(/*clock_error_ns=*/30 * kUs, result);
  EXPECT_THAT(CodesOf(result), IsEmpty()) << "it may be the clocks";
  AddHosts(/*clock_error_ns=*/10 * kUs, result, /*more_of_first_ns=*/50 * kUs);
  EXPECT_EQ(MeasureCollectives(result)[0].row.clock_error_ns(), 70 * kUs);
}

TEST(JudgeCollectivesTest, NamesTheRankForWhichOthersWait) {
  EXPECT_THAT(CodesOf(WithSlowRank()),
              ElementsAre(HasSubstr("slow_rank: rank/2/0 is the last to begin "
                                    "reduce in 100 % of the iterations of "
                                    "rank/*/0, by 300 us (p50)")));
  EXPECT_THAT(CodesOf(WithSlowRank(/*iterations=*/5)), IsEmpty())
      << "too few to tell";
}

// A rank that begins late because it ended late, as at the end of a tree, has
// not been slow itself.
TEST(JudgeCollectivesTest, WhoEndsLateIsNoSlowRank) {
  TestResult result = TwoRows();
  for (int x = 0; x < 4; ++x) {
    // All pause for 500 us.
    AddIterations(absl::StrCat("rank/", x, "/0"), 30, x == 2 ? 300 : 0, 500,
                  result);
  }
  EXPECT_THAT(CodesOf(result), IsEmpty());
  EXPECT_DOUBLE_EQ(MeasureCollectives(result)[0].ranks[2].pause_p50_ns(),
                   500e3);
}

// By the iteration before, however long the others take; and not across those
// that are not listed.
TEST(MeasureCollectivesTest, PausesAreBetweenNeighbours) {
  TestResult result = TwoRows(1);
  AddIterations("rank/0/0", 3, 0, 0, result);
  IterationLog& log =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["rank/0/0"]
            .mutable_iteration_logs())["reduce"];
  log.set_durations_ns(0, 900 * kUs);
  log.set_durations_ns(1, 700 * kUs);
  log.set_durations_ns(2, 100 * kUs);
  EXPECT_DOUBLE_EQ(MeasureCollectives(result)[0].ranks[0].pause_p50_ns(),
                   100e3);
  log.set_numbers(1, 2);
  log.set_numbers(2, 3);
  EXPECT_DOUBLE_EQ(MeasureCollectives(result)[0].ranks[0].pause_p50_ns(),
                   300e3);
}

// Adds messages of a rank to the next one of its row.
void AddMessages(int x, int64_t time_us, int count, TestResult& result) {
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()
            ->mutable_instance_logs())[absl::StrCat("rank/", x, "/0")];
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())[absl::StrCat("rank/", (x + 1) % 4, "/0")]
             .mutable_rpc_logs())[1]
           .mutable_statistics();
  stats::LogHistogram times;
  for (int i = 0; i < count; ++i) times.Record(time_us * kUs);
  statistics.set_succeeded_count(count);
  results::EncodeHistogram(times, *statistics.mutable_service_time_ns());
}

// A ring of four ranks, in which those in the list have slow messages.
TestResult WithMessages(const std::vector<int>& slow, int64_t slow_us = 400,
                        int iterations = 30) {
  TestResult result = TwoRows();
  result.mutable_traffic_config()->MergeFrom(
      FromText<DistributedSystemDescription>(R"pb(
        rpc_descriptions { name: "other" }
        rpc_descriptions { name: "reduce_next" }
        action_lists { name: "reduce" action_names: "send" }
        actions { name: "send" rpc_name: "reduce_next" }
      )pb"));
  result.mutable_traffic_config()->mutable_actions(0)->set_action_list_name(
      "reduce");
  for (int x = 0; x < 4; ++x) {
    AddIterations(absl::StrCat("rank/", x, "/0"), iterations, 0, 800, result);
    const bool is_slow = absl::c_linear_search(slow, x);
    AddMessages(x, is_slow ? slow_us : 50, 2 * iterations, result);
  }
  return result;
}

TEST(JudgeCollectivesTest, NamesTheRankWhoseMessagesAreSlow) {
  // What rank 1 sends to rank 2, and what that sends on.
  EXPECT_THAT(CodesOf(WithMessages({1, 2})),
              ElementsAre(HasSubstr(
                  "slow_messages: messages to and from rank/2/0 take up to "
                  "400 us (p50) in reduce of rank/*/0, and those of the others "
                  "50.0 us")));
  EXPECT_THAT(CodesOf(WithMessages({3})),
              ElementsAre(HasSubstr("messages from rank/3/0 to rank/0/0")));
  EXPECT_THAT(CodesOf(WithMessages({0, 2})),
              ElementsAre(HasSubstr("of 2 pairs, such as from rank/0/0 to")));
}

TEST(JudgeCollectivesTest, MessagesThatAreAllSlowAreNone) {
  EXPECT_THAT(CodesOf(WithMessages({})), IsEmpty());
  EXPECT_THAT(CodesOf(WithMessages({0, 1, 2, 3})), IsEmpty());
  EXPECT_THAT(CodesOf(WithMessages({1}, /*slow_us=*/120)), IsEmpty())
      << "not three times as long";
  EXPECT_THAT(CodesOf(WithMessages({1}, 400, /*iterations=*/5)), IsEmpty())
      << "too few to tell";
  TestResult rare = WithMessages({});
  AddMessages(1, /*time_us=*/400, /*count=*/3, rare);
  EXPECT_THAT(CodesOf(rare), IsEmpty()) << "in one iteration of ten";
}

// What is long because it is much says nothing about the link.
TEST(JudgeCollectivesTest, MessagesOfDifferentSizesAreNotCompared) {
  TestResult result = WithMessages({1, 2});
  DistributedSystemDescription& test = *result.mutable_traffic_config();
  test.mutable_rpc_descriptions(1)->set_request_payload_name("share");
  PayloadSpec& payload = *test.add_payload_descriptions();
  payload.set_name("share");
  EXPECT_THAT(CodesOf(result), Not(IsEmpty()));
  for (const int64_t bytes : {10, 10, 90, 10}) {
    payload.add_sizes_by_instance(bytes);
  }
  EXPECT_THAT(CodesOf(result), IsEmpty());
}

TEST(JudgeCollectivesTest, NamesWhatDidNotFinish) {
  TestResult result = TwoRows(1);
  AddIterations("rank/0/0", 3, 0, 100, result);
  (*(*result.mutable_service_logs()->mutable_instance_logs())["rank/0/0"]
        .mutable_iteration_logs())["reduce"]
      .set_unfinished_count(1);
  EXPECT_THAT(CodesOf(result),
              ElementsAre(HasSubstr("collective_unfinished: 1 iterations of "
                                    "reduce did not finish")));
}

// As one that hangs in the warm-up, while others run ahead of it.
TEST(JudgeCollectivesTest, NamesRanksOfWhichNothingIsKnown) {
  TestResult result = TwoRows();
  for (int x = 0; x < 3; ++x) {
    AddIterations(absl::StrCat("rank/", x, "/0"), 30, 0, 100, result);
  }
  const CollectiveTable::Row row = MeasureCollectives(result)[0].row;
  EXPECT_EQ(row.ranks(), 4);
  EXPECT_EQ(row.iterations(), 0);
  EXPECT_FALSE(row.has_time_ns());
  EXPECT_FALSE(row.has_bus_bandwidth());
  EXPECT_FALSE(row.has_last_to_end());
  EXPECT_THAT(CodesOf(result),
              ElementsAre(HasSubstr("collective_unfinished: of 1 of the 4 "
                                    "ranks of rank/*/0, no iteration of "
                                    "reduce is known")));
}

TEST(CollectiveLinesTest, AreInTheWordsOfTheField) {
  const std::string text = absl::StrJoin(CollectiveLines(WithSlowRank()), "\n");
  EXPECT_THAT(text, HasSubstr("  reduce: all_reduce by ring of 4000000 bytes"));
  EXPECT_THAT(text, HasSubstr("busbw GB/s"));
  EXPECT_THAT(text, HasSubstr("rank/2/0 (100 %)"));
  EXPECT_THAT(CollectiveLines(TestResult()), IsEmpty());
}

TEST(CollectiveLinesTest, OfManyGroupsTheSlowestAreThere) {
  TestResult result = TwoRows(1);
  ServiceSpec& service = *result.mutable_traffic_config()->mutable_services(0);
  service.set_y_size(20);
  service.set_count(20);
  for (int y = 0; y < 20; ++y) {
    AddIterations(absl::StrCat("rank/0/", y), 3, 0, 100 + y, result);
  }
  const std::string text = absl::StrJoin(CollectiveLines(result), "\n");
  EXPECT_THAT(text, HasSubstr("rank/*/19"));
  EXPECT_THAT(text, Not(HasSubstr("rank/*/3 ")));
  EXPECT_THAT(text, HasSubstr("and 12 groups that took less time"));
}

}  // namespace
}  // namespace distbench::collectives
