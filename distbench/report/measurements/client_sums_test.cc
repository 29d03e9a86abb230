#include "distbench/report/measurements/client_sums.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// What the sums leave out, with the reason.
std::vector<std::pair<std::string, std::string>> LeftOut(
    const TestResult& result) {
  std::vector<std::pair<std::string, std::string>> left_out;
  ForEachLeftOut(result,
                 [&](const std::string& what, const absl::Status& problem) {
                   left_out.emplace_back(what, std::string(problem.message()));
                 });
  return left_out;
}

constexpr char kThreeClients[] = R"(
  traffic_config { rpc_descriptions { name: "query" policy {} }
                   rpc_descriptions { name: "plain" } }
  service_logs {
    instance_logs {
      key: "client/0"
      value {
        policy_statistics {
          key: 0
          value {
            request_count: 100 attempt_count: 150 retry_count: 50
            succeeded_attempt_count: 90 failed_attempt_count: 60
            concurrency_limit { count: 2 min: 8 max: 12 sum: 20 }
          }
        }
      }
    }
    instance_logs {
      key: "client/1"
      value {
        policy_statistics {
          key: 0
          value {
            request_count: 100 attempt_count: 100
            succeeded_attempt_count: 100
            concurrency_limit { count: 2 min: 10 max: 30 sum: 40 }
          }
        }
      }
    }
    instance_logs {
      key: "client/2"
      value {
        policy_statistics {
          key: 0
          value { request_count: 100 attempt_count: 100 retry_count: -7 }
        }
      }
    }
  })";

TEST(ClientSumsTest, AddsUpTheUndamagedClients) {
  const auto attempts = AttemptsOf(ResultFromText(kThreeClients), "query");
  ASSERT_TRUE(attempts.has_value());
  EXPECT_EQ(attempts->attempt_count(), 250);
  EXPECT_EQ(attempts->retry_count(), 50);
  EXPECT_EQ(attempts->concurrency_limit().count(), 4);
  EXPECT_EQ(attempts->concurrency_limit().min(), 8);
  EXPECT_EQ(attempts->concurrency_limit().max(), 30);
  EXPECT_FALSE(AttemptsOf(ResultFromText(kThreeClients), "plain").has_value());
  EXPECT_THAT(LeftOut(ResultFromText(kThreeClients)),
              ElementsAre(Pair("attempts of query from client/2",
                               HasSubstr("statistics hold -7"))));
}

// A client whose log has `count` messages at a distance of 7 ns, and unsent
// requests that waited for as long.
void AddClient(const std::string& name, uint64_t count, TestResult& result) {
  stats::LogHistogram recorded;
  recorded.RecordN(7, count);
  Histogram times_ns;
  results::EncodeHistogram(recorded, times_ns);
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())[name];
  StreamStatistics& streams = (*log.mutable_stream_statistics())[0];
  streams.set_stream_count(1);
  *streams.mutable_gap_ns() = times_ns;
  OfferedLoad& load = (*log.mutable_offered_loads())[0];
  load.set_offered_count(1);
  *load.mutable_unsent_wait_ns() = times_ns;
}

// Each alone is valid, but not the sum of all.
TEST(ClientSumsTest, OneClientDoesNotHideTheOthers) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'feed' } }");
  AddClient("client/0", 5, result);
  AddClient("client/1", std::numeric_limits<int64_t>::max(), result);
  AddClient("client/2", 3, result);

  const std::optional<StreamStatistics> streams = StreamsOf(result, "feed");
  ASSERT_TRUE(streams.has_value());
  EXPECT_EQ(streams->stream_count(), 2);
  EXPECT_EQ(results::HistogramOf(streams->gap_ns()).count(), 8u);
  const std::optional<OfferedLoad> load = OfferedLoadOf(result, "feed");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->offered_count(), 2);
  EXPECT_EQ(results::HistogramOf(load->unsent_wait_ns()).count(), 8u);

  EXPECT_THAT(
      LeftOut(result),
      ElementsAre(Pair("messages of feed from client/1",
                       HasSubstr("gap_ns cannot be added to the others")),
                  Pair("offered load of feed from client/1", HasSubstr(""))));
  const TestTotals totals = AddUp(result);
  EXPECT_EQ(totals.invalid_log_count, 2);
  EXPECT_THAT(totals.first_invalid_log,
              HasSubstr("messages of feed from client/1: gap_ns cannot"));
}

TEST(ClientSumsTest, NothingIsLeftOutOfAResultWithoutDamage) {
  TestResult result =
      ResultFromText("traffic_config { rpc_descriptions { name: 'feed' } }");
  AddClient("client/0", 5, result);
  EXPECT_THAT(LeftOut(result), IsEmpty());
  EXPECT_FALSE(StreamsOf(result, "other").has_value());
  EXPECT_FALSE(AttemptsOf(result, "feed").has_value());
}

}  // namespace
}  // namespace distbench::report
