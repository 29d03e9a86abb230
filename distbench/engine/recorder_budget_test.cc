// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The memory of recording, for long tests and for many peers.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

constexpr int64_t kMiB = 1 << 20;

// Log-normal around 200 us.
class LogNormalLatencies {
 public:
  int64_t Next() { return static_cast<int64_t>(latency_(random_)); }

 private:
  std::mt19937_64 random_{1};
  std::lognormal_distribution<double> latency_{std::log(200'000.0), 0.7};
};

void Record(int peer, int rpc, int64_t sent_ns, LogNormalLatencies& latencies,
            Recorder& recorder) {
  Sample& sample = recorder.AddSample(/*kept=*/false);
  sample = Sample();
  sample.peer = peer;
  sample.rpc = rpc;
  sample.open_loop = true;
  sample.sent_ns = sent_ns;
  sample.service_time_ns = latencies.Next();
  sample.lateness_ns = 1000;
  // Counts only if time parts are measured.
  sample.server_queue_ns = 1000;
  sample.server_handler_ns = static_cast<float>(sample.service_time_ns / 2);
}

// The test records two of the ten RPCs of the simulated day.
constexpr int kDayRpcs = 2;

// Records each RPC four times a second. Returns the peak memory.
int64_t RecordSeconds(int64_t seconds, Recorder& recorder) {
  LogNormalLatencies latencies;
  int64_t most_bytes = 0;
  for (int64_t second = 0; second < seconds; ++second) {
    for (int rpc = 0; rpc < kDayRpcs; ++rpc) {
      for (int i = 0; i < 4; ++i) {
        Record(0, rpc, second * kSecond + i, latencies, recorder);
      }
    }
    recorder.Flush();
    most_bytes = std::max(most_bytes, recorder.recording_memory_bytes());
  }
  return most_bytes;
}

// One worker of sixteen, with the RPCs' share of its share of the default
// budget.
TEST(RecorderBudgetTest, ADayOfSeriesStaysWithinIt) {
  constexpr int kRpcs = kDayRpcs;
  constexpr int64_t kSeconds = 24 * 3600;
  constexpr int64_t kBudget = 64 * kMiB / 16 * kRpcs / 10;
  Recorder recorder(
      {.peer_count = 1, .rpc_count = kRpcs, .recording_memory_bytes = kBudget});
  const int64_t most_bytes = RecordSeconds(kSeconds, recorder);
  Recorder unlimited({.peer_count = 1, .rpc_count = kRpcs});
  const int64_t hour_bytes = RecordSeconds(3600, unlimited);
  EXPECT_GT(24 * hour_bytes, 30 * most_bytes);
  RecordProperty("hour_bytes", absl::StrCat(hour_bytes));
  RecordProperty("most_bytes", absl::StrCat(most_bytes));
  // Excess memory is given back over the next seconds.
  EXPECT_LE(most_bytes, kBudget + kBudget / 20);
  EXPECT_GE(most_bytes, kBudget / 2);
  for (int rpc = 0; rpc < kRpcs; ++rpc) {
    const stats::IntervalSeries& series = recorder.record(rpc)->series;
    const int64_t width = series.width();
    EXPECT_LE(width, 1024);
    int64_t intervals = 0;
    int64_t sent = 0;
    int64_t measured = 0;
    stats::IntervalSeries::ForEach(
        {&series}, [&](const stats::IntervalSeries::View& view) {
          EXPECT_EQ(view.index, intervals);
          EXPECT_EQ(view.counts.sent,
                    4 * std::min(width, kSeconds - view.index * width));
          ++intervals;
          sent += view.counts.sent;
          measured += static_cast<int64_t>(view.response_time_ns.count());
        });
    EXPECT_EQ(sent, 4 * kSeconds);
    EXPECT_EQ(measured, 4 * kSeconds);
    EXPECT_EQ(intervals, (kSeconds + width - 1) / width);
  }
}

// A client of a clique of 1000.
class CliqueRecording {
 public:
  static constexpr int kPeers = 999;
  static constexpr int kRpcs = 2;
  static constexpr int kRounds = 60;

  explicit CliqueRecording(int64_t budget, bool measures_time_parts = false)
      : recorder({.peer_count = kPeers,
                  .rpc_count = kRpcs,
                  .recording_memory_bytes = budget,
                  .measures_time_parts = measures_time_parts}) {
    LogNormalLatencies latencies;
    for (int64_t round = 0; round < kRounds; ++round) {
      for (int peer = 0; peer < kPeers; ++peer) {
        for (int rpc = 0; rpc < kRpcs; ++rpc) {
          Record(peer, rpc, round * kSecond + peer, latencies, recorder);
        }
      }
      recorder.Flush();
    }
  }

  int64_t CountBrief() const {
    int64_t count = 0;
    for (int peer = 0; peer < kPeers; ++peer) {
      for (int rpc = 0; rpc < kRpcs; ++rpc) {
        count += recorder.is_brief(peer, rpc) ? 1 : 0;
      }
    }
    return count;
  }

  Recorder recorder;
};

TEST(RecorderBudgetTest, ManyPeersStayWithinIt) {
  constexpr int64_t kBudget = 16 * kMiB;
  const CliqueRecording unlimited(std::numeric_limits<int64_t>::max());
  const CliqueRecording limited(kBudget);
  EXPECT_GT(unlimited.recorder.recording_memory_bytes(), 3 * kBudget / 2);
  EXPECT_LE(limited.recorder.recording_memory_bytes(), kBudget);
  RecordProperty("unlimited_bytes",
                 absl::StrCat(unlimited.recorder.recording_memory_bytes()));
  RecordProperty("limited_bytes",
                 absl::StrCat(limited.recorder.recording_memory_bytes()));
  RecordProperty("brief_pairs", absl::StrCat(limited.CountBrief()));
  EXPECT_EQ(unlimited.CountBrief(), 0);
  EXPECT_GT(limited.CountBrief(), 100);
  EXPECT_LT(limited.CountBrief(),
            CliqueRecording::kPeers * CliqueRecording::kRpcs);

  // Nothing is lost except which peer had which latencies.
  std::vector<results::RpcTotals> expected(CliqueRecording::kRpcs);
  std::vector<results::RpcTotals> found(CliqueRecording::kRpcs);
  std::vector<stats::RunningMoments> expected_pairs;
  std::vector<stats::RunningMoments> found_pairs;
  unlimited.recorder.ForEachTotals(
      [&](int /*peer*/, int rpc, const results::RpcTotals& totals) {
        expected[rpc].MergeHistograms(totals);
        expected_pairs.emplace_back(totals.response_time_ns);
      });
  limited.recorder.ForEachTotals([&](int peer, int rpc,
                                     const results::RpcTotals& totals) {
    found[rpc].MergeHistograms(totals);
    EXPECT_EQ(totals.counts.succeeded_count, CliqueRecording::kRounds);
    EXPECT_EQ(totals.service_time_ns.count() == 0,
              limited.recorder.is_brief(peer, rpc));
    found_pairs.push_back(totals.moments.response_time_ns);
    found_pairs.back().Merge(stats::RunningMoments(totals.response_time_ns));
  });
  for (int rpc = 0; rpc < CliqueRecording::kRpcs; ++rpc) {
    found[rpc].MergeHistograms(*limited.recorder.record(rpc)->pooled);
    EXPECT_EQ(found[rpc].service_time_ns.count(),
              expected[rpc].service_time_ns.count());
    for (const double quantile : {0.01, 0.5, 0.99, 0.999}) {
      EXPECT_EQ(found[rpc].response_time_ns.ValueAtQuantile(quantile),
                expected[rpc].response_time_ns.ValueAtQuantile(quantile));
      EXPECT_EQ(found[rpc].lateness_ns.ValueAtQuantile(quantile),
                expected[rpc].lateness_ns.ValueAtQuantile(quantile));
    }
  }
  ASSERT_EQ(found_pairs.size(), expected_pairs.size());
  for (size_t i = 0; i < found_pairs.size(); ++i) {
    EXPECT_EQ(found_pairs[i].count, expected_pairs[i].count);
    EXPECT_EQ(found_pairs[i].min, expected_pairs[i].min);
    EXPECT_EQ(found_pairs[i].max, expected_pairs[i].max);
    EXPECT_DOUBLE_EQ(found_pairs[i].sum, expected_pairs[i].sum);
    EXPECT_DOUBLE_EQ(found_pairs[i].sum_of_squares,
                     expected_pairs[i].sum_of_squares);
  }
}

TEST(RecorderBudgetTest, TimePartsOfManyPeersStayWithinIt) {
  constexpr int64_t kBudget = 16 * kMiB;
  const CliqueRecording limited(kBudget, /*measures_time_parts=*/true);
  EXPECT_LE(limited.recorder.recording_memory_bytes(), kBudget);
  EXPECT_GE(limited.recorder.recording_memory_bytes(), kBudget / 4);
  EXPECT_GT(limited.CountBrief(), 100);
  // Parts are counted by peer or together, but not twice.
  std::vector<results::RpcTotals> found(CliqueRecording::kRpcs);
  limited.recorder.ForEachTotals(
      [&](int peer, int rpc, const results::RpcTotals& totals) {
        EXPECT_EQ(totals.time_parts_ns.empty(),
                  limited.recorder.is_brief(peer, rpc));
        found[rpc].MergeHistograms(totals);
      });
  for (int rpc = 0; rpc < CliqueRecording::kRpcs; ++rpc) {
    found[rpc].MergeHistograms(*limited.recorder.record(rpc)->pooled);
    for (const results::TimePart part : results::kTimeParts) {
      EXPECT_EQ(found[rpc].time_parts_ns.at(part).count(),
                CliqueRecording::kPeers * CliqueRecording::kRounds);
    }
  }
}

TEST(RecorderBudgetTest, FailuresAndWarmupOfBriefPeersAreCounted) {
  Recorder recorder(
      {.peer_count = 1, .rpc_count = 1, .recording_memory_bytes = 0});
  const int error = recorder.InternError("broken");
  LogNormalLatencies latencies;
  Record(0, 0, 0, latencies, recorder);
  Sample& failed = recorder.AddSample(/*kept=*/false);
  failed = Sample();
  failed.error = error;
  Sample& warmup = recorder.AddSample(/*kept=*/false);
  warmup = Sample();
  warmup.warmup = true;
  recorder.Flush();
  ASSERT_TRUE(recorder.is_brief(0, 0));
  recorder.ForEachTotals([&](int, int, const results::RpcTotals& totals) {
    EXPECT_EQ(totals.counts.succeeded_count, 1);
    EXPECT_EQ(totals.counts.failed_count, 1);
    EXPECT_EQ(totals.counts.warmup_count, 1);
    EXPECT_EQ(totals.failures_by_error.at(error), 1);
    EXPECT_EQ(totals.moments.service_time_ns.count, 1);
  });
  EXPECT_EQ(recorder.record(0)->pooled->service_time_ns.count(), 1u);
}

}  // namespace
}  // namespace distbench::engine
