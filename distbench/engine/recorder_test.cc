#include "distbench/engine/recorder.h"

#include <cstdint>
#include <map>
#include <string>

#include "distbench/stats/interval_series.h"
#include "distbench/stats/recent_times.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Unix time of monotonic 0: a quarter before second 1000.
constexpr int64_t kUnixOffset = 1000 * kSecond - kSecond / 4;

Recorder::Options OnePeer(int64_t sample_memory_bytes = 0) {
  return {.peer_count = 1,
          .rpc_count = 1,
          .sample_memory_bytes = sample_memory_bytes,
          .unix_offset_ns = kUnixOffset,
          .seed = 1};
}

Sample OpenLoopSample(int64_t intended_ns, int64_t sent_ns, int64_t done_ns) {
  Sample sample;
  sample.open_loop = true;
  sample.sent_ns = sent_ns;
  sample.lateness_ns = sent_ns - intended_ns;
  sample.service_time_ns = done_ns - sent_ns;
  return sample;
}

std::map<int64_t, IntervalCounts> CountsOf(const Recorder& recorder) {
  std::map<int64_t, IntervalCounts> counts;
  IntervalSeries::ForEach({&recorder.record(0)->series},
                          [&](const IntervalSeries::View& view) {
                            counts[view.index] = view.counts;
                          });
  return counts;
}

TEST(RecorderTest, AnRpcIsCountedInTheSecondsInWhichItHappens) {
  Recorder recorder(OnePeer());
  // Intended in second 1000, sent in 1001, done in 1003.
  recorder.Count(
      OpenLoopSample(kSecond / 2, 3 * kSecond / 2, 13 * kSecond / 4));
  std::map<int64_t, IntervalCounts> counts = CountsOf(recorder);
  EXPECT_EQ(counts[1000].offered, 1);
  EXPECT_EQ(counts[1000].sent, 0);
  EXPECT_EQ(counts[1001].sent, 1);
  EXPECT_EQ(counts[1003].succeeded, 1);
  IntervalSeries::ForEach(
      {&recorder.record(0)->series}, [&](const IntervalSeries::View& view) {
        EXPECT_EQ(view.service_time_ns.count(), view.index == 1003 ? 1u : 0u);
        if (view.index != 1003) return;
        EXPECT_EQ(view.service_time_ns.max(), 7 * kSecond / 4);
        EXPECT_EQ(view.response_time_ns.max(), 11 * kSecond / 4);
      });
}

TEST(RecorderTest, SeriesShowWarmupAndFailuresToo) {
  Recorder recorder(OnePeer());
  Sample sample;
  sample.sent_ns = kSecond;
  sample.service_time_ns = 1;
  sample.warmup = true;
  recorder.Count(sample);
  sample.error = recorder.InternError("broken");
  recorder.Count(sample);
  sample.warmup = false;
  recorder.Count(sample);
  const IntervalCounts counts = CountsOf(recorder).at(1000);
  EXPECT_EQ(counts.offered, 0) << "a closed loop has no intended times";
  EXPECT_EQ(counts.sent, 3);
  EXPECT_EQ(counts.succeeded, 1);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.warmup, 2);
}

TEST(RecorderTest, WhatIsNeverSentIsOfferedAndHasWaited) {
  Recorder recorder(OnePeer());
  recorder.CountUnsent(0, /*intended_ns=*/kSecond, /*wait_ns=*/500,
                       /*count=*/10);
  // Cancelled while it waited for room in a send queue.
  Sample sample = OpenLoopSample(kSecond, kSecond + 700, kSecond + 700);
  sample.sent = false;
  sample.error = recorder.InternError("not sent");
  recorder.Count(sample);
  const RpcRecord& record = *recorder.record(0);
  EXPECT_EQ(record.offered_count, 11);
  EXPECT_EQ(record.unsent_count, 11);
  EXPECT_EQ(record.unsent_wait_ns.count(), 11u);
  EXPECT_EQ(record.unsent_wait_ns.sum(), 5700);
  const IntervalCounts counts = CountsOf(recorder).at(1000);
  EXPECT_EQ(counts.offered, 11);
  EXPECT_EQ(counts.sent, 0);
  EXPECT_EQ(counts.failed, 1);
}

TEST(RecorderTest, WarmupIsNoPartOfTheOfferedLoad) {
  Recorder recorder(OnePeer());
  Sample sample = OpenLoopSample(0, 1, 2);
  sample.warmup = true;
  recorder.Count(sample);
  EXPECT_EQ(recorder.record(0)->offered_count, 0);
  sample.warmup = false;
  recorder.Count(sample);
  EXPECT_EQ(recorder.record(0)->offered_count, 1);
}

TEST(RecorderTest, SamplesStayWithinTheirMemory) {
  constexpr int64_t kCapacity = 100;
  Recorder recorder(OnePeer(kCapacity * sizeof(Sample)));
  Sample sample;
  for (int i = 0; i < 1000; ++i) {
    recorder.Count(sample);
    recorder.Keep(sample);
  }
  EXPECT_EQ(recorder.samples().size(), kCapacity);
  EXPECT_EQ(recorder.samples().dropped_count(), 900);
}

TEST(RecorderTest, WithoutSampleMemoryNoSampleIsKept) {
  Recorder recorder(OnePeer(0));
  recorder.Keep(Sample());
  EXPECT_EQ(recorder.samples().size(), 0);
  EXPECT_EQ(recorder.AddTrace("trace"), -1);
}

TEST(RecorderTest, TracesTakeHalfOfTheMemory) {
  Recorder::Options options = OnePeer(100 * sizeof(Sample));
  options.traced = true;
  Recorder recorder(options);
  EXPECT_EQ(recorder.sample_capacity(), 50);
  const std::string trace(sizeof(Sample) - sizeof(std::string), 'x');
  for (int i = 0; i < 50; ++i) EXPECT_EQ(recorder.AddTrace(trace), i);
  EXPECT_EQ(recorder.AddTrace(trace), -1);
}

TEST(RecorderTest, TellsOfEachSecondThatHasPassed) {
  RecentTimes recent;
  Recorder recorder(OnePeer(), &recent);
  recorder.Count(OpenLoopSample(kSecond, kSecond + 1, kSecond + 3));
  EXPECT_EQ(recent.Take(), nullptr);
  recorder.Count(OpenLoopSample(2 * kSecond, 2 * kSecond, 2 * kSecond));
  const auto times = recent.Take();
  ASSERT_NE(times, nullptr);
  EXPECT_EQ(times->service_time_ns.max(), 2);
  EXPECT_EQ(times->response_time_ns.max(), 3);
}

}  // namespace
}  // namespace distbench
