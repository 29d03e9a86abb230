// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/recording/recorder.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/recent_intervals.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace distbench::engine {
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

void Record(Recorder& recorder, const Sample& sample) {
  recorder.AddSample(/*kept=*/true) = sample;
  recorder.Flush();
}

std::map<int64_t, stats::IntervalCounts> CountsOf(const Recorder& recorder) {
  std::map<int64_t, stats::IntervalCounts> counts;
  stats::IntervalSeries::ForEach({&recorder.record(0)->series},
                                 [&](const stats::IntervalSeries::View& view) {
                                   counts[view.index] = view.counts;
                                 });
  return counts;
}

void Append(std::string& text, const stats::LogHistogram& histogram) {
  absl::StrAppend(&text, " [", histogram.count(), " ", histogram.min(), " ",
                  histogram.max());
  // Sums must be equal to the last bit.
  for (const double sum : {histogram.sum(), histogram.sum_of_squares()}) {
    absl::StrAppend(&text, " ", absl::bit_cast<uint64_t>(sum));
  }
  for (const stats::LogHistogram::Bucket& bucket : histogram.Buckets()) {
    absl::StrAppend(&text, " ", bucket.index, ":", bucket.count);
  }
  absl::StrAppend(&text, "]");
}

// Describes everything that was recorded.
std::string Describe(const Recorder& recorder) {
  std::string text;
  recorder.ForEachTotals(
      [&](int peer, int rpc, const results::RpcTotals& totals) {
        const results::RpcCounts& counts = totals.counts;
        absl::StrAppend(&text, "\npeer ", peer, " rpc ", rpc, ": ",
                        counts.succeeded_count, " ", counts.failed_count, " ",
                        counts.warmup_count, " ", counts.request_bytes);
        absl::StrAppend(&text, " ", counts.response_bytes, " ",
                        counts.first_start_timestamp_ns, " ",
                        counts.last_end_timestamp_ns);
        for (const auto& [error, count] : totals.failures_by_error) {
          absl::StrAppend(&text, " error ", error, ": ", count);
        }
        Append(text, totals.service_time_ns);
        Append(text, totals.response_time_ns);
        Append(text, totals.lateness_ns);
      });
  for (int rpc = 0; rpc < recorder.rpc_count(); ++rpc) {
    const RpcRecord& record = *recorder.record(rpc);
    absl::StrAppend(&text, "\nrpc ", rpc, ": ", record.offered_count, " ",
                    record.unsent_count);
    Append(text, record.unsent_wait_ns);
    stats::IntervalSeries::ForEach(
        {&record.series}, [&](const stats::IntervalSeries::View& view) {
          const stats::IntervalCounts& counts = view.counts;
          absl::StrAppend(&text, "\n", view.index, ": ", counts.offered, " ",
                          counts.sent, " ", counts.succeeded, " ",
                          counts.failed, " ", counts.warmup);
          absl::StrAppend(&text, " ", counts.request_bytes, " ",
                          counts.response_bytes);
          Append(text, view.service_time_ns);
          Append(text, view.response_time_ns);
        });
  }
  for (int64_t i = 0; i < recorder.samples().size(); ++i) {
    const Sample& sample = recorder.samples()[i];
    absl::StrAppend(&text, "\n", sample.sent_ns, " ", sample.service_time_ns);
  }
  return text;
}

TEST(RecorderTest, AnRpcIsCountedInTheSecondsInWhichItHappens) {
  Recorder recorder(OnePeer());
  // Intended in second 1000, sent in 1001, done in 1003.
  Record(recorder,
         OpenLoopSample(kSecond / 2, 3 * kSecond / 2, 13 * kSecond / 4));
  std::map<int64_t, stats::IntervalCounts> counts = CountsOf(recorder);
  EXPECT_EQ(counts[1000].offered, 1);
  EXPECT_EQ(counts[1000].sent, 0);
  EXPECT_EQ(counts[1001].sent, 1);
  EXPECT_EQ(counts[1003].succeeded, 1);
  stats::IntervalSeries::ForEach(
      {&recorder.record(0)->series},
      [&](const stats::IntervalSeries::View& view) {
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
  Record(recorder, sample);
  sample.error = recorder.InternError("broken");
  Record(recorder, sample);
  sample.warmup = false;
  Record(recorder, sample);
  const stats::IntervalCounts counts = CountsOf(recorder).at(1000);
  EXPECT_EQ(counts.offered, 0) << "a closed loop has no intended times";
  EXPECT_EQ(counts.sent, 3);
  EXPECT_EQ(counts.succeeded, 1);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.warmup, 2);
}

// A rate over the time of the successes alone would be too high if a system
// stops to answer. An RPC that hangs must not lower it.
TEST(RecorderTest, FailuresCountForTheTimeOfARunWhenTheyAreSent) {
  Recorder recorder(OnePeer());
  Record(recorder, OpenLoopSample(1 * kSecond, 1 * kSecond, 2 * kSecond));
  Sample failed = OpenLoopSample(5 * kSecond, 5 * kSecond, 30 * kSecond);
  failed.error = 1;
  Record(recorder, failed);
  failed = OpenLoopSample(9 * kSecond, 9 * kSecond, 9 * kSecond);
  failed.error = 1;
  failed.sent = false;
  Record(recorder, failed);
  recorder.ForEachTotals([](int, int, const results::RpcTotals& totals) {
    EXPECT_EQ(totals.counts.first_start_timestamp_ns, 1 * kSecond);
    EXPECT_EQ(totals.counts.last_end_timestamp_ns, 5 * kSecond);
  });
}

TEST(RecorderTest, KeepsALimitedNumberOfDifferentErrors) {
  Recorder recorder(OnePeer());
  const int first = recorder.InternError("error 0");
  for (int i = 1; i < 1000; ++i) {
    EXPECT_EQ(recorder.InternError(absl::StrCat("error ", i)), first + i);
  }
  const int other = recorder.InternError("one more");
  EXPECT_EQ(recorder.InternError("and another"), other);
  EXPECT_EQ(recorder.InternError("error 0"), first);
  EXPECT_EQ(recorder.errors().size(), 1002u);  // with that of no error
  EXPECT_THAT(recorder.errors()[other], testing::HasSubstr("other errors"));
}

TEST(RecorderTest, WhatIsNeverSentIsOfferedAndHasWaited) {
  Recorder recorder(OnePeer());
  recorder.CountUnsent(0, /*intended_ns=*/kSecond, /*wait_ns=*/500,
                       /*count=*/10);
  // Cancelled while it waited for room in a send queue.
  Sample sample = OpenLoopSample(kSecond, kSecond + 700, kSecond + 700);
  sample.sent = false;
  sample.error = recorder.InternError("not sent");
  Record(recorder, sample);
  const RpcRecord& record = *recorder.record(0);
  EXPECT_EQ(record.offered_count, 11);
  EXPECT_EQ(record.unsent_count, 11);
  EXPECT_EQ(record.unsent_wait_ns.count(), 11u);
  EXPECT_EQ(record.unsent_wait_ns.sum(), 5700);
  const stats::IntervalCounts counts = CountsOf(recorder).at(1000);
  EXPECT_EQ(counts.offered, 11);
  EXPECT_EQ(counts.sent, 0);
  EXPECT_EQ(counts.failed, 1);
}

TEST(RecorderTest, WarmupIsNoPartOfTheOfferedLoad) {
  Recorder recorder(OnePeer());
  Sample sample = OpenLoopSample(0, 1, 2);
  sample.warmup = true;
  Record(recorder, sample);
  EXPECT_EQ(recorder.record(0)->offered_count, 0);
  sample.warmup = false;
  Record(recorder, sample);
  EXPECT_EQ(recorder.record(0)->offered_count, 1);
}

// Any sequence gives the same result, whether noted together or one by one.
TEST(RecorderTest, TogetherIsAsOneByOne) {
  Recorder::Options options = OnePeer(1000 * sizeof(Sample));
  options.peer_count = 3;
  options.rpc_count = 2;
  Recorder together(options);
  Recorder one_by_one(options);
  std::mt19937 random(1);
  const auto one_in = [&](int count) { return random() % count == 0; };
  const int error = together.InternError("broken");
  ASSERT_EQ(one_by_one.InternError("broken"), error);
  Sample sample;
  int64_t now_ns = 0;
  for (int i = 0; i < 3000; ++i) {
    // Mostly like the previous one.
    if (one_in(5)) sample.rpc = static_cast<int32_t>(random() % 2);
    if (one_in(5)) sample.peer = static_cast<int32_t>(random() % 3);
    if (one_in(5)) sample.warmup = one_in(2);
    if (one_in(5)) sample.open_loop = one_in(2);
    if (one_in(5)) sample.error = one_in(3) ? error : 0;
    sample.sent = sample.error == 0 || one_in(2);
    now_ns += random() % 10'000'000;
    const auto some_ns = [&] {
      return static_cast<int64_t>(random() % (one_in(20) ? kSecond : 1000));
    };
    sample.sent_ns = now_ns - some_ns();
    sample.service_time_ns = some_ns();
    sample.lateness_ns = sample.open_loop ? some_ns() : 0;
    sample.request_bytes = static_cast<int64_t>(random() % 1000);
    sample.response_bytes = static_cast<int64_t>(random() % 1000);
    const bool kept = !one_in(3);
    together.AddSample(kept) = sample;
    one_by_one.AddSample(kept) = sample;
    one_by_one.Flush();
    if (one_in(100)) together.Flush();
  }
  together.Flush();
  EXPECT_EQ(Describe(together), Describe(one_by_one));
}

TEST(RecorderTest, NothingIsSeenBeforeItIsFlushed) {
  Recorder recorder(OnePeer(1000 * sizeof(Sample)));
  recorder.AddSample(/*kept=*/true) = Sample();
  recorder.AddSample(/*kept=*/false) = Sample();
  EXPECT_EQ(recorder.record(0), nullptr);
  recorder.Flush();
  EXPECT_EQ(CountsOf(recorder).begin()->second.succeeded, 2);
  EXPECT_EQ(recorder.samples().size(), 1);
  recorder.Flush();
  EXPECT_EQ(CountsOf(recorder).begin()->second.succeeded, 2);
}

// The samples of a list come after those of RPCs that ended before the list.
TEST(RecorderTest, SamplesOfListsKeepTheirPlace) {
  Recorder recorder(OnePeer(1000 * sizeof(Sample)));
  Sample sample;
  sample.sent_ns = 1;
  recorder.AddSample(/*kept=*/true) = sample;
  SampleReservoir list(/*capacity=*/10, /*seed=*/1);
  sample.sent_ns = 2;
  list.Add(sample);
  recorder.KeepAll(list);
  ASSERT_EQ(recorder.samples().size(), 2);
  EXPECT_EQ(recorder.samples()[0].sent_ns, 1);
  EXPECT_EQ(recorder.samples()[1].sent_ns, 2);
}

TEST(RecorderTest, SamplesStayWithinTheirMemory) {
  constexpr int64_t kCapacity = 100;
  Recorder recorder(OnePeer(kCapacity * sizeof(Sample)));
  Sample sample;
  for (int i = 0; i < 1000; ++i) {
    Record(recorder, sample);
  }
  EXPECT_EQ(recorder.samples().size(), kCapacity);
  EXPECT_EQ(recorder.samples().dropped_count(), 900);
}

TEST(RecorderTest, WithoutSampleMemoryNoSampleIsKept) {
  Recorder recorder(OnePeer(0));
  Record(recorder, Sample());
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

Recorder::Options Measured() {
  Recorder::Options options = OnePeer(100 * sizeof(Sample));
  options.measures_time_parts = true;
  return options;
}

Sample TimedSample(int64_t service_time_ns, float queue_ns, float handler_ns) {
  Sample sample;
  sample.service_time_ns = service_time_ns;
  sample.server_queue_ns = queue_ns;
  sample.server_handler_ns = handler_ns;
  return sample;
}

results::RpcTotals TotalsOf(const Recorder& recorder) {
  results::RpcTotals all;
  recorder.ForEachTotals(
      [&](int, int, const results::RpcTotals& totals) { all = totals; });
  return all;
}

TEST(RecorderTest, ServiceTimesAreDividedIntoParts) {
  Recorder recorder(Measured());
  recorder.AddSample(/*kept=*/true) = TimedSample(1000, 100, 700);
  recorder.AddSample(/*kept=*/true) = TimedSample(1000, 0, 300);
  recorder.Flush();
  const results::RpcTotals totals = TotalsOf(recorder);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kServerQueue).sum(),
            100);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kServerHandler).sum(),
            1000);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kNetwork).sum(), 900);
  EXPECT_EQ(recorder.samples()[0].server_handler_ns, 700);
}

TEST(RecorderTest, OnlyReportedPartsOfSuccessesAreCounted) {
  Recorder recorder(Measured());
  Sample unreported;
  unreported.service_time_ns = 500;
  recorder.AddSample(/*kept=*/true) = unreported;
  recorder.AddSample(/*kept=*/true) = TimedSample(1000, 1, 2);
  Sample warmup = TimedSample(1000, 1, 2);
  warmup.warmup = true;
  recorder.AddSample(/*kept=*/true) = warmup;
  Sample failed = TimedSample(1000, 1, 2);
  failed.error = recorder.InternError("broken");
  recorder.AddSample(/*kept=*/true) = failed;
  recorder.Flush();
  const results::RpcTotals totals = TotalsOf(recorder);
  EXPECT_EQ(totals.service_time_ns.count(), 2u);
  for (const results::TimePart part : results::kTimeParts) {
    EXPECT_EQ(totals.time_parts_ns.at(part).count(), 1u)
        << results::NameOf(part);
  }
}

TEST(RecorderTest, TheNetworkNeverTakesLessThanNothing) {
  Recorder recorder(Measured());
  Record(recorder, TimedSample(1000, 600, 600));
  const results::RpcTotals totals = TotalsOf(recorder);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kNetwork).max(), 0);
  EXPECT_EQ(totals.time_parts_ns.at(results::TimePart::kNetwork).CountAtMost(0),
            1u);
}

TEST(RecorderTest, WithoutMeasuringPartsThereAreNone) {
  Recorder recorder(OnePeer());
  Record(recorder, Sample());
  EXPECT_TRUE(TotalsOf(recorder).time_parts_ns.empty());
}

Sample StampedSample(float wire_ns, bool shared = false) {
  Sample sample;
  sample.service_time_ns = 1000;
  sample.wire_ns = wire_ns;
  sample.wire_shared = shared;
  return sample;
}

TEST(RecorderTest, WireTimesAreThoseOfStampedSuccesses) {
  Recorder::Options options = OnePeer(100 * sizeof(Sample));
  options.measures_wire_time = true;
  Recorder recorder(options);
  recorder.AddSample(/*kept=*/true) = StampedSample(300);
  recorder.AddSample(/*kept=*/true) = StampedSample(500, /*shared=*/true);
  recorder.AddSample(/*kept=*/true) = StampedSample(Sample::kNotReported);
  Sample warmup = StampedSample(100, /*shared=*/true);
  warmup.warmup = true;
  recorder.AddSample(/*kept=*/true) = warmup;
  Sample failed = StampedSample(100);
  failed.error = static_cast<int16_t>(recorder.InternError("broken"));
  recorder.AddSample(/*kept=*/true) = failed;
  recorder.Flush();
  const results::RpcTotals totals = TotalsOf(recorder);
  const stats::LogHistogram& wire_ns =
      totals.time_parts_ns.at(results::TimePart::kWire);
  EXPECT_EQ(wire_ns.count(), 2u);
  EXPECT_EQ(wire_ns.sum(), 800);
  EXPECT_EQ(totals.counts.wire_shared_count, 1);
  EXPECT_EQ(totals.time_parts_ns.size(), 1u);
  EXPECT_EQ(recorder.samples()[1].wire_ns, 500);
  EXPECT_TRUE(recorder.samples()[1].wire_shared);
  EXPECT_FALSE(recorder.samples()[2].has_wire_time());
}

TEST(RecorderTest, TellsOfEachSecondThatHasPassed) {
  stats::RecentIntervals recent;
  Recorder recorder(OnePeer(), &recent);
  Record(recorder, OpenLoopSample(kSecond, kSecond + 1, kSecond + 3));
  EXPECT_EQ(recent.Take(), nullptr);
  Record(recorder, OpenLoopSample(2 * kSecond, 2 * kSecond, 2 * kSecond));
  const auto parts = recent.Take();
  ASSERT_NE(parts, nullptr);
  ASSERT_EQ(parts->size(), 1);
  EXPECT_EQ(parts->front().rpc, 0);
  EXPECT_EQ(parts->front().step, 1000);
  const stats::IntervalSeries::Interval& second = parts->front().interval;
  EXPECT_EQ(second.counts.succeeded, 1);
  stats::LogHistogram service_time_ns;
  second.service_time_ns.AddTo(service_time_ns);
  EXPECT_EQ(service_time_ns.max(), 2);
  stats::LogHistogram response_time_ns;
  second.response_time_ns.AddTo(response_time_ns);
  EXPECT_EQ(response_time_ns.max(), 3);
  // RPCs that end late and fail are reported too.
  Sample sample = OpenLoopSample(kSecond, kSecond, 2 * kSecond + 5);
  sample.error = recorder.InternError("broken");
  Record(recorder, sample);
  Record(recorder, OpenLoopSample(3 * kSecond, 3 * kSecond, 3 * kSecond));
  const auto later = recent.Take();
  ASSERT_NE(later, nullptr);
  ASSERT_EQ(later->size(), 2);
  EXPECT_EQ(later->front().step, 1000);
  EXPECT_EQ(later->front().interval.counts.sent, 1);
  EXPECT_EQ(later->back().step, 1001);
  EXPECT_EQ(later->back().interval.counts.failed, 1);
}

}  // namespace

// Lists that keep a limited number of samples, on several workers.

namespace {

DistributedSystemDescription LimitedTest(int64_t iterations, int parallel,
                                         int64_t max_samples) {
  DistributedSystemDescription test = ParseTest(ClientServer(""));
  Iterations& run = *test.mutable_actions(0)->mutable_iterations();
  run.set_max_iteration_count(iterations);
  run.set_max_parallel_iterations(parallel);
  test.mutable_action_lists(0)->set_max_rpc_samples(max_samples);
  return test;
}

struct Samples {
  int64_t kept = 0;
  int64_t dropped = 0;
};

Samples RunTest(const DistributedSystemDescription& test, int workers) {
  VirtualTimeSystem system(test, workers);
  EXPECT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcPerformanceLog& log = LogOf(logs, "client/0", "server/0", 0);
  return {.kept = log.successful_rpc_samples_size(),
          .dropped = log.statistics().dropped_sample_count()};
}

TEST(LimitedSamplesTest, AreAllKeptByMoreWorkersThanSamples) {
  const Samples samples = RunTest(LimitedTest(1000, 8, 3), 8);
  EXPECT_EQ(samples.kept, 3);
  EXPECT_EQ(samples.dropped, 997);
}

TEST(LimitedSamplesTest, AreTheListsHoweverManyActionsShareThem) {
  DistributedSystemDescription test = LimitedTest(500, 10, 100);
  Action& again = *test.add_actions();
  again = test.actions(0);
  again.set_name("again");
  test.mutable_action_lists(0)->add_action_names("again");
  const Samples samples = RunTest(test, 4);
  EXPECT_EQ(samples.kept, 100);
  EXPECT_EQ(samples.dropped, 900);
}

// Regardless of how the workers have shared the iterations.
TEST(LimitedSamplesTest, AreAllRpcsIfThereAreNoMore) {
  const Samples samples = RunTest(LimitedTest(10, 7, 10), 4);
  EXPECT_EQ(samples.kept, 10);
  EXPECT_EQ(samples.dropped, 0);
}

// The RPCs of both workers are kept equally often, within four standard
// deviations.
TEST(LimitedSamplesTest, AreDrawnFromAllWorkersAlike) {
  constexpr int64_t kLimit = 1000;
  Recorder busy({.sample_memory_bytes = 1 << 20, .seed = 1});
  Recorder lazy({.sample_memory_bytes = 1 << 20, .seed = 2});
  Recorder third({.sample_memory_bytes = 1 << 20, .seed = 3});
  const auto set_aside = [](int64_t count, Recorder& recorder) {
    SampleReservoir samples(kLimit, /*seed=*/count);
    for (int64_t i = 0; i < count; ++i) {
      samples.Add({.sent_ns = i});
    }
    recorder.SetAside(std::move(samples));
  };
  set_aside(6'000, busy);
  set_aside(3'000, busy);
  set_aside(1'000, lazy);
  set_aside(10'000, third);
  KeepOfMainList(kLimit, {&busy, &lazy, &third}, /*seed=*/5);
  EXPECT_EQ(
      busy.samples().size() + lazy.samples().size() + third.samples().size(),
      kLimit);
  EXPECT_NEAR(lazy.samples().size(), 50, 28);
  EXPECT_NEAR(third.samples().size(), 500, 64);
  double sum = 0;
  for (int64_t i = 0; i < lazy.samples().size(); ++i) {
    sum += lazy.samples()[i].sent_ns;
  }
  EXPECT_NEAR(sum / lazy.samples().size(), 500, 4 * 289 / 7);
}

// A worker whose budget is short takes no places from the others.
TEST(LimitedSamplesTest, AreFewerIfThereIsNoMemory) {
  Recorder recorder({.sample_memory_bytes = 5 * sizeof(Sample), .seed = 1});
  SampleReservoir samples(recorder.sample_capacity(), /*seed=*/2);
  for (int i = 0; i < 100; ++i) samples.Add({});
  recorder.SetAside(std::move(samples));
  KeepOfMainList(50, {&recorder}, /*seed=*/3);
  EXPECT_EQ(recorder.samples().size(), 5);
}

// Whether a recorder in a new process has built what its tallies need.
[[noreturn]] void ExitIfTalliesAreReady() {
  const Recorder recorder({});
  const bool is_ready =
      google::protobuf::DescriptorPool::internal_generated_pool()
          ->InternalIsFileLoaded("proto/results.proto");
  std::exit(is_ready ? 0 : 1);
}

TEST(RecorderDeathTest, TheFirstTallyIsNotTheFirstUseOfDescriptors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ExitIfTalliesAreReady(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace distbench::engine
