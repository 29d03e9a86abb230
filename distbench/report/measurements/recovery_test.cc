// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/faults.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

constexpr int64_t kFirst = 1'700'000'000;

int64_t At(double second) {
  return kFirst * base::kNsPerSecond +
         static_cast<int64_t>(second * base::kNsPerSecond);
}

// 100 requests are due in each of `seconds` intervals.
LoadCurve HundredPerSecond(int seconds,
                           const std::function<int64_t(int)>& goodput) {
  LoadCurve curve = {.interval_ns = base::kNsPerSecond, .is_open_loop = true};
  for (int i = 0; i < seconds; ++i) {
    curve.intervals.push_back({.begin_ns = At(i),
                               .offered = 100,
                               .sent = 100,
                               .goodput = goodput(i)});
  }
  return curve;
}

FaultWindow Freeze(double begin, double end) {
  return {"freeze", At(begin), At(end)};
}

Recovery Only(const LoadCurve& curve, const FaultWindow& window) {
  const std::vector<FaultWindow> windows = {window};
  return RecoveriesOf(curve, windows).at(0);
}

TEST(RecoveryTest, CountsFromTheEndOfTheFaultUntilGoodputStaysBack) {
  // 89 is not back, and neither are two seconds of 95 before another dip.
  const std::vector<int64_t> after = {0, 89, 95, 95, 40, 90, 99, 100};
  const Recovery recovery =
      Only(HundredPerSecond(30,
                            [&](int i) -> int64_t {
                              if (i < 10) return 100;
                              if (i < 12) return 0;
                              return i - 12 < 8 ? after[i - 12] : 100;
                            }),
           Freeze(10, 12));
  EXPECT_EQ(recovery.outcome, RecoveryOutcome::kRecovered);
  EXPECT_THAT(recovery.after_s, Optional(DoubleEq(5)));
  EXPECT_THAT(recovery.before_per_second, Optional(DoubleEq(100)));
  EXPECT_DOUBLE_EQ(recovery.observed_s, 18);
}

TEST(RecoveryTest, AFaultThatNobodyNoticesIsNone) {
  const Recovery recovery = Only(
      HundredPerSecond(30, [](int i) { return 95 + i % 5; }), Freeze(10, 12));
  EXPECT_EQ(recovery.outcome, RecoveryOutcome::kUnaffected);
  EXPECT_THAT(recovery.after_s, Optional(DoubleEq(0)));
}

TEST(RecoveryTest, GoodputThatIsBackAtOnceTookNoTime) {
  const Recovery recovery =
      Only(HundredPerSecond(30, [](int i) { return i == 10 ? 20 : 100; }),
           Freeze(10.1, 10.9));
  EXPECT_EQ(recovery.outcome, RecoveryOutcome::kRecovered);
  EXPECT_NEAR(*recovery.after_s, 0.1, 1e-9);
}

TEST(RecoveryTest, LessLoadIsNoLackOfRecovery) {
  LoadCurve curve = HundredPerSecond(30, [](int i) {
    return i < 10 ? 100 : i < 12 ? 0 : 50;
  });
  EXPECT_EQ(Only(curve, Freeze(10, 12)).outcome, RecoveryOutcome::kNever);
  for (size_t i = 12; i < 30; ++i) curve.intervals[i].offered = 50;
  EXPECT_EQ(Only(curve, Freeze(10, 12)).outcome, RecoveryOutcome::kRecovered);
  curve.is_open_loop = false;
  EXPECT_EQ(Only(curve, Freeze(10, 12)).outcome, RecoveryOutcome::kNever);
}

// Three seconds on, seven off.
TEST(RecoveryTest, SecondsInWhichNothingWasDueSayNothing) {
  const auto on_off = [](int dead_from, int dead_until) {
    LoadCurve curve = HundredPerSecond(60, [](int) { return 100; });
    for (int i = 0; i < 60; ++i) {
      LoadInterval& interval = curve.intervals[i];
      if (i % 10 >= 3) interval.offered = 0;
      const bool is_dead = i >= dead_from && i < dead_until;
      interval.goodput = is_dead ? 0 : interval.offered;
    }
    return curve;
  };
  EXPECT_EQ(Only(on_off(12, 60), Freeze(12.1, 13.5)).outcome,
            RecoveryOutcome::kNever);
  const Recovery recovery = Only(on_off(12, 31), Freeze(12.1, 13.5));
  EXPECT_EQ(recovery.outcome, RecoveryOutcome::kRecovered);
  EXPECT_THAT(recovery.before_per_second, Optional(DoubleEq(100)));
  EXPECT_THAT(recovery.after_s, Optional(DoubleEq(17.5)));
  EXPECT_EQ(Only(on_off(60, 60), Freeze(14.1, 15.5)).outcome,
            RecoveryOutcome::kUnaffected);
  EXPECT_EQ(Only(on_off(52, 60), Freeze(52.1, 53)).outcome,
            RecoveryOutcome::kTooShort);
}

TEST(RecoveryTest, SaysWhatCannotBeKnown) {
  const LoadCurve healthy = HundredPerSecond(30, [](int) { return 100; });
  // Two whole seconds before, or after.
  EXPECT_EQ(Only(healthy, Freeze(2.5, 4)).outcome,
            RecoveryOutcome::kUnknownBefore);
  EXPECT_EQ(Only(healthy, Freeze(10, 28)).outcome, RecoveryOutcome::kTooShort);
  EXPECT_EQ(Only(healthy, Freeze(10, 40)).outcome, RecoveryOutcome::kTooShort);
  const LoadCurve dead = HundredPerSecond(30, [](int) { return 0; });
  EXPECT_EQ(Only(dead, Freeze(10, 12)).outcome,
            RecoveryOutcome::kUnknownBefore);
  LoadCurve warm = healthy;
  for (int i = 0; i < 9; ++i) warm.intervals[i].is_warmup = true;
  EXPECT_EQ(Only(warm, Freeze(10, 12)).outcome,
            RecoveryOutcome::kUnknownBefore);
}

TEST(RecoveryTest, TheNextFaultEndsTheTimeToRecover) {
  // It does not recover from the first, only from the second.
  const LoadCurve curve = HundredPerSecond(40, [](int i) {
    return i < 10 ? 100 : i < 30 ? 10 : 100;
  });
  const std::vector<FaultWindow> windows = {Freeze(10, 12), Freeze(20, 22)};
  const std::vector<Recovery> both = RecoveriesOf(curve, windows);
  EXPECT_EQ(both[0].outcome, RecoveryOutcome::kNotBeforeNext);
  EXPECT_DOUBLE_EQ(both[0].observed_s, 8);
  // What preceded the second is not what is healthy.
  EXPECT_THAT(both[1].before_per_second, Optional(DoubleEq(100)));
  EXPECT_THAT(both[1].after_s, Optional(DoubleEq(8)));
}

TEST(RecoveryTest, AnotherFaultInEffectIsNotRecoveredFrom) {
  const LoadCurve curve = HundredPerSecond(40, [](int) { return 100; });
  const std::vector<FaultWindow> windows = {Freeze(10, 12),
                                            {"slow", At(10.00001), At(20)}};
  EXPECT_EQ(RecoveriesOf(curve, windows)[0].outcome,
            RecoveryOutcome::kTooShort);
  EXPECT_EQ(RecoveriesOf(curve, windows)[1].outcome,
            RecoveryOutcome::kUnaffected);
}

TEST(RecoveryTest, AFaultFromTheStartIsPartOfTheSystem) {
  const LoadCurve curve =
      HundredPerSecond(40, [](int i) { return i >= 10 && i < 15 ? 0 : 100; });
  const std::vector<FaultWindow> windows = {{"slow", At(0), At(40)},
                                            Freeze(10, 12)};
  const std::vector<Recovery> both = RecoveriesOf(curve, windows);
  EXPECT_EQ(both[0].outcome, RecoveryOutcome::kUnknownBefore);
  EXPECT_EQ(both[1].outcome, RecoveryOutcome::kRecovered);
  EXPECT_THAT(both[1].after_s, Optional(DoubleEq(3)));
}

// By the definition: the median of the whole intervals before the first window
// that has enough, without those of windows which had ended by then.
std::optional<double> BeforeByDefinition(const LoadCurve& curve,
                                         const FaultWindow& window,
                                         const std::vector<FaultWindow>& all) {
  std::vector<double> goodput;
  for (const LoadInterval& interval : curve.intervals) {
    const int64_t end_ns = interval.begin_ns + curve.interval_ns;
    bool counts = end_ns <= window.begin_ns && !interval.is_warmup;
    for (const FaultWindow& other : all) {
      if (other.end_ns <= window.begin_ns &&
          other.end_ns >= interval.begin_ns && other.begin_ns < end_ns) {
        counts = false;
      }
    }
    if (counts) goodput.push_back(static_cast<double>(interval.goodput));
  }
  if (goodput.size() < kIntervalsBack) return std::nullopt;
  std::sort(goodput.begin(), goodput.end());
  const size_t middle = goodput.size() / 2;
  return goodput.size() % 2 == 1 ? goodput[middle]
                                 : (goodput[middle - 1] + goodput[middle]) / 2;
}

TEST(RecoveryTest, WhatWasBeforeIsAsDefined) {
  std::mt19937 random(1);
  int known_late = 0;
  for (int round = 0; round < 300; ++round) {
    LoadCurve curve = HundredPerSecond(30, [&](int) {
      return std::uniform_int_distribution<>(1, 99)(random);
    });
    for (int i = 0; i < round % 5; ++i) curve.intervals[i].is_warmup = true;
    std::vector<FaultWindow> windows;
    for (int i = 0; i < 12; ++i) {
      const double begin = std::uniform_int_distribution<>(0, 50)(random) / 2.0;
      const double length =
          std::uniform_int_distribution<>(0, 20)(random) / 4.0;
      windows.push_back(Freeze(begin, begin + length));
    }
    std::stable_sort(windows.begin(), windows.end(),
                     [](const FaultWindow& a, const FaultWindow& b) {
                       return a.begin_ns < b.begin_ns;
                     });
    std::optional<double> before;
    const std::vector<Recovery> recoveries = RecoveriesOf(curve, windows);
    for (size_t i = 0; i < windows.size(); ++i) {
      if (!before) {
        before = BeforeByDefinition(curve, windows[i], windows);
        if (before && i > 2) ++known_late;
      }
      ASSERT_EQ(recoveries[i].before_per_second, before) << round << " " << i;
    }
  }
  EXPECT_GT(known_late, 50);
}

// The most that there may be, of which none is ever preceded by quiet: takes
// minutes if each window looks at all others in each interval.
TEST(RecoveryTest, ManyFaultsAreJudgedQuickly) {
  const LoadCurve curve = HundredPerSecond(10'000, [](int) { return 100; });
  std::vector<FaultWindow> windows;
  for (int i = 0; i < 2000; ++i) windows.push_back(Freeze(5 * i, 5 * i + 4.5));
  for (const Recovery& recovery : RecoveriesOf(curve, windows)) {
    ASSERT_EQ(recovery.outcome, RecoveryOutcome::kUnknownBefore);
  }
}

TEST(FaultWindowsTest, JoinsWhatInstancesDidAtTheSameTime) {
  TestResult result;
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  const auto add = [&](const std::string& instance, const std::string& fault,
                       int64_t begin_ns, int64_t end_ns) {
    FaultTime& time =
        *(*logs[instance].mutable_fault_logs())[fault].add_times();
    time.set_begin_timestamp_ns(begin_ns);
    time.set_end_timestamp_ns(end_ns);
  };
  add("s/0", "reset", At(5), At(5));
  add("s/1", "reset", At(5) + 17, At(5) + 17);
  add("s/1", "reset", At(9), At(9));
  add("s/0", "freeze", At(4.5), At(6));
  add("s/0", "freeze", At(8), At(7));  // damaged
  const std::vector<FaultWindow> windows = FaultWindowsOf(result);
  ASSERT_EQ(windows.size(), 3);
  EXPECT_EQ(windows[0].fault, "freeze");
  EXPECT_EQ(windows[1].begin_ns, At(5));
  EXPECT_EQ(windows[1].end_ns, At(5) + 17);
  EXPECT_EQ(windows[2].begin_ns, At(9));
}

}  // namespace
}  // namespace distbench::report
