// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/reading/metric_reader.h"

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/server_metrics/reading/metrics_extension.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::distbench::base::FromText;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr absl::Duration kPatience = absl::Seconds(60);

ServerMetric Percent() {
  return FromText<ServerMetric>(
      R"pb(name: "cpu" command: "cpu" unit: "percent" interval_ns: 1000000)pb");
}

// ---- ReadingLog -------------------------------------------------------------

TEST(ReadingLogTest, KeepsValuesInTheUnitOfResults) {
  ReadingLog log(Percent());
  log.Add(SourceReading{.value = 70}, 10 * kMs, 14 * kMs);
  log.Add(absl::UnavailableError("no answer\nfrom it"), 20 * kMs, 26 * kMs);
  log.Add(SourceReading{.value = 1e308}, 30 * kMs, 31 * kMs);
  EXPECT_THAT(log.log().timestamps_ns(), ElementsAre(12 * kMs, 30'500'000));
  EXPECT_THAT(log.log().values(), ElementsAre(DoubleEq(0.7), DoubleEq(1e306)));
  EXPECT_EQ(log.log().failed_count(), 1);
  EXPECT_EQ(log.log().failures(0).timestamp_ns(), 20 * kMs);
  EXPECT_THAT(log.log().failures(0).message(), HasSubstr("no answer"));
  EXPECT_EQ(log.log().failures(0).message().find('\n'), std::string::npos);
  EXPECT_EQ(log.log().duration_ns().count(), 3);
  EXPECT_EQ(log.log().duration_ns().min(), kMs);
  EXPECT_EQ(log.log().duration_ns().max(), 6 * kMs);
}

TEST(ReadingLogTest, RefusesWhatTheUnitMakesInfinite) {
  ReadingLog log(FromText<ServerMetric>(R"pb(unit: "seconds")pb"));
  log.Add(SourceReading{.value = 1e305}, 0, 1);
  EXPECT_THAT(log.log().values(), IsEmpty());
  EXPECT_EQ(log.log().failures(0).message(), "the value is too large");
}

TEST(ReadingLogTest, CountsAllFailuresAndKeepsTheFirst) {
  ReadingLog log(Percent());
  for (int i = 0; i < 100; ++i) {
    log.Add(absl::UnavailableError(absl::StrCat("failure ", i)), i, i);
  }
  log.AddMissed(1'000'000'000'000, 100);
  log.AddMissed(0, 100);
  EXPECT_EQ(log.log().failed_count(), 1'000'000'000'100);
  EXPECT_EQ(log.log().failures_size(), kMaxFailures);
  EXPECT_EQ(log.log().failures(9).message(), "failure 9");
}

// The clock of the source is known as well as the shortest reading tells.
TEST(ReadingLogTest, FindsTheClockOfTheSource) {
  ReadingLog log(Percent());
  log.Add(SourceReading{.value = 1, .timestamp_s = 5}, 0, 1000 * kMs);
  log.Add(SourceReading{.value = 1, .timestamp_s = 7.1}, 2000 * kMs,
          2002 * kMs);
  log.Add(SourceReading{.value = 1, .timestamp_s = 9}, 3000 * kMs, 4000 * kMs);
  EXPECT_NEAR(log.log().clock_offset().offset_ns(), 5'099'000'000, 1);
  EXPECT_EQ(log.log().clock_offset().error_ns(), 1'500'000);
  ReadingLog damaged(Percent());
  damaged.Add(SourceReading{.value = 1, .timestamp_s = 1e300}, 0, 1);
  EXPECT_FALSE(damaged.log().has_clock_offset());
}

TEST(ReadingLogTest, ThinsOutWhatIsTooMuch) {
  ReadingLog log(Percent());
  for (int i = 0; i < 3 * kMaxValues; ++i) {
    log.Add(SourceReading{.value = 1.0 * i}, i * kMs, i * kMs);
  }
  EXPECT_LT(log.log().values_size(), kMaxValues);
  EXPECT_GE(log.log().values_size(), kMaxValues / 2);
  EXPECT_EQ(log.log().interval_ns(), 4 * kMs);
  for (int i = 0; i < log.log().values_size(); ++i) {
    ASSERT_EQ(log.log().timestamps_ns(i), i * 4 * kMs);
    ASSERT_EQ(log.log().values(i), i * 4 * 0.01);
  }
}

// ---- MetricReader -----------------------------------------------------------

class FakeSource final : public MetricSource {
 public:
  using Answer = std::function<absl::StatusOr<SourceReading>(int number)>;

  explicit FakeSource(Answer answer) : answer_(std::move(answer)) {}

  absl::StatusOr<SourceReading> Read(absl::Duration) override {
    if (is_cancelled_) return absl::CancelledError("cancelled");
    const int number = count_++;
    return answer_(number);
  }
  void Cancel() override { is_cancelled_ = true; }

  std::atomic<bool> is_cancelled_ = false;
  std::atomic<int> count_ = 0;

 private:
  const Answer answer_;
};

void WaitFor(const std::function<bool()>& condition) {
  const absl::Time end = absl::Now() + kPatience;
  while (!condition()) {
    ASSERT_LT(absl::Now(), end);
    absl::SleepFor(absl::Milliseconds(1));
  }
}

TEST(MetricReaderTest, ReadsAtEachIntervalAfterTheStart) {
  auto owned = std::make_unique<FakeSource>([](int number) {
    return absl::StatusOr<SourceReading>(SourceReading{.value = 1.0 * number});
  });
  FakeSource& source = *owned;
  MetricReader reader(Percent(), std::move(owned));
  const base::Clock& clock = base::RealClock();
  const int64_t start_ns = clock.MonotonicNs() + 20 * kMs;
  const int64_t start_unix_ns = clock.UnixNs() + 20 * kMs;
  reader.Start(clock, start_ns);
  WaitFor([&] { return source.count_ >= 5; });
  reader.Stop();
  ASSERT_GE(reader.log().values_size(), 4);
  EXPECT_GE(reader.log().timestamps_ns(0), start_unix_ns + kMs - kMs / 2);
  EXPECT_EQ(reader.log().values(3), 0.03);
}

TEST(MetricReaderTest, SaysWhatItMissed) {
  auto owned = std::make_unique<FakeSource>([](int) {
    absl::SleepFor(absl::Milliseconds(5));  // five intervals
    return absl::StatusOr<SourceReading>(SourceReading{.value = 1});
  });
  FakeSource& source = *owned;
  MetricReader reader(Percent(), std::move(owned));
  reader.Start(base::RealClock(), base::NowNs());
  WaitFor([&] { return source.count_ >= 3; });
  reader.Stop();
  EXPECT_GE(reader.log().failed_count(), 8);
  EXPECT_THAT(reader.log().failures(0).message(),
              EndsWith("took longer than the interval"));
}

// Nothing is left of a reading that the end of the traffic cut short, nor of a
// reader that never started.
TEST(MetricReaderTest, EndsAtOnce) {
  MetricReader idle(Percent(), std::make_unique<FakeSource>([](int) {
                      return absl::InternalError("read");
                    }));
  idle.Cancel();
  idle.Stop();
  EXPECT_THAT(idle.log().values(), IsEmpty());

  ServerMetric entry = Percent();
  entry.set_interval_ns(3'600'000'000'000);
  entry.set_timeout_ns(1'000'000'000'000);
  MetricReader reader(entry, MakeCommandSource("sleep 1000"));
  reader.Start(base::RealClock(), base::NowNs() - entry.interval_ns());
  absl::SleepFor(absl::Milliseconds(20));
  reader.Stop();
  EXPECT_THAT(reader.log().values(), IsEmpty());
  EXPECT_EQ(reader.log().failed_count(), 0);
}

TEST(MetricReaderTest, WhatHangsUntilTheEndHasFailed) {
  ServerMetric entry = Percent();
  entry.set_timeout_ns(1'000'000'000'000);
  MetricReader reader(entry, MakeCommandSource("sleep 1000"));
  reader.Start(base::RealClock(), base::NowNs());
  absl::SleepFor(absl::Milliseconds(20));
  reader.Stop();
  EXPECT_GE(reader.log().failed_count(), 2);
  EXPECT_EQ(reader.log().failures(0).message(),
            "there was no value when the traffic ended");
}

// ---- MetricsExtension -------------------------------------------------------

constexpr char kTest[] = R"pb(
  services { name: "client" count: 2 }
  services { name: "server" }
  server_metrics {
    name: "cpu"
    command: "cpu"
    interval_ns: 1000000
    timeout_ns: 60000000000
  }
  server_metrics {
    name: "heap"
    service: "server"
    interval_ns: 1000000
    timeout_ns: 60000000000
    prometheus { url: "http://127.0.0.1:1" query: "heap" }
  }
)pb";

absl::StatusOr<std::unique_ptr<node::TestPartExtension>> Begin(
    const node::NodeSettings& settings, const std::string& instance,
    bool has_engine_processes = true) {
  return MetricsExtension().TestBegins(
      {.settings = settings, .has_engine_processes = has_engine_processes},
      FromText<DistributedSystemDescription>(kTest), {instance});
}

TEST(MetricsExtensionTest, EachMetricIsReadByOneNode) {
  const node::NodeSettings settings = {
      {"server_metric_command", "heap=echo 1\ncpu=echo 5"}};
  const auto other = Begin(settings, "client/1");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(*other, nullptr);

  const auto part = Begin(settings, "client/0");
  ASSERT_TRUE(part.ok()) << part.status();
  (*part)->TrafficBegins(base::RealClock(), base::NowNs());
  NodeResources resources;
  WaitFor([&] {
    // The log is that of the end.
    absl::SleepFor(absl::Milliseconds(50));
    (*part)->TrafficEnded();
    resources.Clear();
    (*part)->AddResults(resources);
    return resources.server_metrics(0).values_size() > 0;
  });
  EXPECT_EQ(resources.server_metrics_size(), 1);
  EXPECT_EQ(resources.server_metrics(0).name(), "cpu");
  EXPECT_EQ(resources.server_metrics(0).values(0), 5);
}

TEST(MetricsExtensionTest, RefusesWhatTheNodeDoesNotAllow) {
  EXPECT_EQ(Begin({{"server_metric_command", "heap=echo 1"}}, "client/0")
                .status()
                .message(),
            "server_metrics[\"cpu\"]: the node manager does not allow a "
            "command \"cpu\"; start it with --server_metric_command="
            "cpu=COMMAND");
  const auto refused =
      Begin({{"server_metric_url", "http://127.0.0.1:1/"}}, "server/0");
  EXPECT_TRUE(absl::IsPermissionDenied(refused.status()));
  EXPECT_EQ(refused.status().message(),
            "server_metrics[\"heap\"]: the node manager does not allow queries "
            "of http://127.0.0.1:1; start it with --server_metric_url="
            "http://127.0.0.1:1");
  EXPECT_TRUE(
      Begin({{"server_metric_url", "http://x\nhttp://127.0.0.1:1"}}, "server/0")
          .ok());
}

// A preview has no flags.
TEST(MetricsExtensionTest, APreviewReadsNothing) {
  const auto part = Begin({}, "client/0", /*has_engine_processes=*/false);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(*part, nullptr);
}

TEST(MetricsExtensionTest, WrongFlagsAreNamed) {
  const auto problem_of = [](const node::NodeSettings& settings) {
    return std::string(MetricsExtension().CheckSettings(settings).message());
  };
  EXPECT_EQ(problem_of({}), "");
  EXPECT_EQ(problem_of({{"server_metric_command", "a=b=c"}}), "");
  EXPECT_THAT(problem_of({{"server_metric_command", "a=b\nmy_command"}}),
              HasSubstr("--server_metric_command=my_command is not "
                        "NAME=COMMAND; write it like "));
  EXPECT_THAT(problem_of({{"server_metric_command", "a=b\na=c"}}),
              HasSubstr("has a name that another one has"));
  EXPECT_THAT(problem_of({{"server_metric_url", "https://x"}}),
              HasSubstr("--server_metric_url=https://x uses https, which "));
}

}  // namespace
}  // namespace distbench::server_metrics
