// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/work.h"

#include <string>

#include "distbench/base/time_units.h"
#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

// Two instances of the antagonist, of which one has intervals of two seconds; a
// sender; and a subject with an activity of its own.
constexpr char kResult[] = R"(
  service_logs {
    instance_logs {
      key: "antagonist_hog/0"
      value { activity_logs { key: "grow" value { series {
        interval_ns: 1000000000
        intervals { index: 10 offered_count: 5 completed_count: 4
                    input_bytes: 100 output_bytes: 20 }
        intervals { index: 11 completed_count: 2 }
        intervals { index: 14 completed_count: 6 }
      } } } }
    }
    instance_logs {
      key: "antagonist_hog/1"
      value { activity_logs { key: "grow" value { series {
        interval_ns: 2000000000
        intervals { index: 5 completed_count: 10 output_bytes: 80 }
      } } } }
    }
    instance_logs {
      key: "antagonist_hog_sender/0"
      value { rpc_time_series { key: 1 value {
        interval_ns: 1000000000
        intervals { index: 10 succeeded_count: 8 request_bytes: 1000
                    response_bytes: 24 }
      } } }
    }
    instance_logs {
      key: "server/0"
      value {
        activity_logs { key: "hash" value { series {
          interval_ns: 1000000000 intervals { index: 10 completed_count: 1 }
        } } }
        rpc_time_series { key: 0 value {
          interval_ns: 1000000000 intervals { index: 10 succeeded_count: 70 }
        } }
      }
    }
  })";

constexpr TimeSpan kSpan = {10 * base::kNsPerSecond, 16 * base::kNsPerSecond};

TEST(ProtectionWorkTest, AddsUpActivitiesAndRpcsOfTheAntagonist) {
  const TestResult result = report::ResultFromText(kResult);
  const WorkSeries work = CollectWork(result, WorkRole::kAntagonist);
  EXPECT_EQ(work.interval_ns, 2 * base::kNsPerSecond);
  const auto rate = MeanRate(work, kSpan);
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->offered, 5 / 6.0);
  EXPECT_DOUBLE_EQ(rate->completed, (4 + 2 + 6 + 10 + 8) / 6.0);
  EXPECT_DOUBLE_EQ(rate->bytes, 200 / 6.0);
  EXPECT_DOUBLE_EQ(rate->message_bytes, 1024 / 6.0);
}

TEST(ProtectionWorkTest, TheSubjectsRpcsAreNoWorkOfItsActivities) {
  const TestResult result = report::ResultFromText(kResult);
  const auto rate = MeanRate(CollectWork(result, WorkRole::kSubject), kSpan);
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->completed, 1 / 6.0);
}

TEST(ProtectionWorkTest, SilenceIsARateOfNothing) {
  const TestResult result = report::ResultFromText(kResult);
  const WorkSeries work = CollectWork(result, WorkRole::kAntagonist);
  EXPECT_EQ(RateAt(work, 12 * base::kNsPerSecond)->completed, 0);
  EXPECT_EQ(RateAt(work, 11 * base::kNsPerSecond)->completed,
            (4 + 2 + 10 + 8) / 2);
  EXPECT_FALSE(MeanRate(work, {0, base::kNsPerSecond}).has_value());
  EXPECT_FALSE(RateAt(WorkSeries(), 0).has_value());
  EXPECT_FALSE(MeanRate(WorkSeries(), kSpan).has_value());
}

TEST(ProtectionWorkTest, DamagedSeriesAreLeftOut) {
  for (const char* damage :
       {"interval_ns: 0", "interval_ns: -1",
        "interval_ns: 1000000000 intervals { index: -1 }",
        "interval_ns: 1000000000 intervals { index: 9223372036854775807 }",
        "interval_ns: 1000000000 intervals { index: 1 completed_count: -5 }"}) {
    const TestResult result =
        report::ResultFromText(std::string(R"(service_logs { instance_logs {
          key: "antagonist_hog/0"
          value { activity_logs { key: "grow" value { series { )") +
                               damage + " } } } } } }");
    EXPECT_EQ(CollectWork(result, WorkRole::kAntagonist).interval_ns, 0)
        << damage;
  }
}

TEST(NestedLatencyListTest, IsTheDistributionOfEachSecondsPercentiles) {
  WorkSeries work = {.interval_ns = base::kNsPerSecond, .intervals = {}};
  for (int i = 0; i < 100; ++i) work.intervals[10].read_ns.Record(i);
  work.intervals[12].read_ns.Record(100);
  work.intervals[30].read_ns.Record(1'000'000);  // not in the span
  NestedLatencyList list;
  list.Add(work, kSpan, &WorkTotals::read_ns);
  list.Add(WorkSeries(), kSpan, &WorkTotals::read_ns);
  const NestedLatencies latencies = list.Distributions();
  EXPECT_EQ(latencies.p50.count(), 2);
  EXPECT_EQ(latencies.p50.mean(), 75);
  EXPECT_EQ(latencies.p90.mean(), 95);
  EXPECT_EQ(latencies.max.AtQuantile(0), 99);
  EXPECT_EQ(latencies.max.AtQuantile(1), 100);
}

}  // namespace
}  // namespace distbench::protection
