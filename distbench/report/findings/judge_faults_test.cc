// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class JudgeFaultsTest : public JudgeTest {
 protected:
  void AddFault(const std::string& name) {
    ServerFault& fault = *result_.mutable_traffic_config()->add_server_faults();
    fault.set_name(name);
    fault.set_service("server");
    fault.set_freeze(true);
  }
};

TEST_F(JudgeFaultsTest, AHealthySystemIsNothing) { ExpectNothing(); }

TEST_F(JudgeFaultsTest, PlannedFaultsAreAWarning) {
  AddFault("pause");
  EXPECT_THAT(ExpectOne(Finding::WARN, "planned_faults"),
              HasSubstr("failed on purpose: pause (server stands still). These "
                        "are not the numbers of a healthy system"));
}

TEST_F(JudgeFaultsTest, ManyAreNotAllNamed) {
  for (const char* name : {"a", "b", "c", "d"}) AddFault(name);
  EXPECT_THAT(ExpectOne(Finding::WARN, "planned_faults"),
              HasSubstr("c (server stands still) and others."));
}

TEST_F(JudgeFaultsTest, FaultsThatWereNeverInEffectAreNoFailures) {
  AddFault("pause");
  auto& logs = *Log().mutable_fault_logs();
  logs["pause"];
  EXPECT_EQ(ExpectOne(Finding::WARN, "planned_faults"),
            "planned but never in effect: pause (server stands still); the "
            "traffic ended before, or servers stood still meanwhile");
  AddFault("other");
  logs["other"].add_times()->set_end_timestamp_ns(1);
  const std::vector<Finding> findings = Judge(result_);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(findings[0].message(),
              HasSubstr("failed on purpose: other (server stands still). "));
  EXPECT_THAT(findings[1].message(),
              HasSubstr("planned but never in effect: pause ("));
  EXPECT_NE(findings[0].advice(), findings[1].advice());
}

using ::testing::IsEmpty;

// What happens in one second.
struct JudgedSecond {
  int64_t offered = 100;
  double served_share = 1;
  double attempts_per_request = 1;
  int64_t latency_ns = 1'000'000;
};

// A fault from second 8 to second 10, after which retries may sustain the
// overload.
class MetastableTest : public JudgeTest {
 protected:
  MetastableTest() { FailFrom(8, 10); }

  void FailFrom(double begin_s, double end_s) {
    FaultTime& time = *(*(*result_.mutable_service_logs()
                               ->mutable_instance_logs())["server/0"]
                             .mutable_fault_logs())["freeze"]
                           .add_times();
    time.set_begin_timestamp_ns(At(begin_s));
    time.set_end_timestamp_ns(At(end_s));
  }

  void HaveNoFault() {
    result_.mutable_service_logs()->mutable_instance_logs()->erase("server/0");
  }

  static int64_t At(double second) {
    return kJudgedFirstSecond * base::kNsPerSecond +
           static_cast<int64_t>(second * base::kNsPerSecond);
  }

  void SetSecond(int i, const JudgedSecond& second) {
    RpcInterval& interval = *Series().mutable_intervals(i);
    const auto served = static_cast<int64_t>(
        second.served_share * static_cast<double>(second.offered));
    interval.set_offered_count(second.offered);
    interval.set_sent_count(second.offered);
    interval.set_succeeded_count(served);
    interval.set_failed_count(second.offered - served);
    interval.set_attempt_count(std::llround(
        second.attempts_per_request * static_cast<double>(second.offered)));
    interval.clear_service_time_ns();
    if (served > 0) {
      *interval.mutable_service_time_ns() = Repeated(second.latency_ns, served);
    }
  }

  void Seconds(const std::function<JudgedSecond(int)>& second) {
    for (int i = 0; i < kJudgedSeconds; ++i) SetSecond(i, second(i));
  }

  static JudgedSecond Storm() {
    return {.served_share = 0.3,
            .attempts_per_request = 2.8,
            .latency_ns = 90'000'000};
  }
};

TEST_F(MetastableTest, AnOverloadThatOutlivesItsTriggerIsFound) {
  Seconds([](int i) { return i < 8 ? JudgedSecond() : Storm(); });
  EXPECT_NE(Find("metastable").advice(), "");
  const std::string message = Find("metastable").message();
  EXPECT_THAT(message, HasSubstr("query: the fault \"freeze\" was over"));
  // The last second may be partial.
  EXPECT_THAT(message, HasSubstr("for the last 19 s"));
  EXPECT_THAT(message, HasSubstr("goodput stayed at 30/s instead of 100/s"));
  EXPECT_THAT(message, HasSubstr("2.80 attempts per request instead of 1.00"));
  EXPECT_THAT(message, HasSubstr("and most requests failed, where the "
                                 "median latency had been 1.00 ms"));
}

TEST_F(MetastableTest, APeakOfLoadIsATriggerToo) {
  HaveNoFault();
  Seconds([](int i) {
    JudgedSecond second = i < 8 ? JudgedSecond() : Storm();
    if (i >= 8 && i < 11) second.offered = 300;
    return second;
  });
  EXPECT_THAT(Find("metastable").message(),
              HasSubstr("a peak of 3.0 times the offered load was over"));
  EXPECT_THAT(Find("metastable").message(), HasSubstr("for the last 18 s"));
}

TEST_F(MetastableTest, SlowAnswersSustainItWithoutRetries) {
  Seconds([](int i) {
    JudgedSecond second = i < 8 ? JudgedSecond() : Storm();
    second.attempts_per_request = 0;  // no policy
    if (i >= 8) second.served_share = 0.6;
    return second;
  });
  EXPECT_THAT(Find("metastable").message(),
              HasSubstr("the median latency was 90.0 ms, where the median "
                        "latency had been 1.00 ms"));
}

TEST_F(MetastableTest, ARunThatRecoveredIsNot) {
  Seconds([](int i) { return i < 8 || i >= 20 ? JudgedSecond() : Storm(); });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
  // For some seconds only.
  Seconds([](int i) {
    return i < 8 || (i >= 15 && i < 18) ? JudgedSecond() : Storm();
  });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, ARunOnItsWayBackIsNot) {
  Seconds([](int i) {
    JudgedSecond second = i < 8 ? JudgedSecond() : Storm();
    if (i >= 8) second.served_share = 0.1 + 0.03 * (i - 8);
    return second;
  });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, ARunThatWasOverloadedFromTheStartIsNot) {
  Seconds([](int i) {
    JudgedSecond second = Storm();
    second.served_share = i < 8 ? 0.7 : 0.3;
    return second;
  });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, MoreLoadForGoodIsAPlainOverload) {
  for (const bool has_fault : {true, false}) {
    if (!has_fault) HaveNoFault();
    Seconds([](int i) {
      JudgedSecond second = i < 8 ? JudgedSecond() : Storm();
      if (i >= 8) second.offered = 300;
      return second;
    });
    EXPECT_THAT(Find("metastable").message(), IsEmpty());
  }
}

TEST_F(MetastableTest, ARunThatEndsSoonAfterTheTriggerSaysNothing) {
  HaveNoFault();
  FailFrom(8, 20);
  Seconds([](int i) { return i < 8 ? JudgedSecond() : Storm(); });
  // Nine whole seconds follow.
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
  HaveNoFault();
  FailFrom(8, 19);
  // Ten, but the fault took eleven.
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
  HaveNoFault();
  FailFrom(9, 19);
  EXPECT_THAT(Find("metastable").message(), HasSubstr("for the last 10 s"));
}

TEST_F(MetastableTest, AFaultInEffectIsNoPastTrigger) {
  FailFrom(12, 40);
  Seconds([](int i) { return i < 8 ? JudgedSecond() : Storm(); });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, LostServersWithoutMoreWorkAreNot) {
  Seconds([](int i) { return JudgedSecond{.served_share = i < 8 ? 1 : 0.66}; });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, WithoutATriggerThereIsNone) {
  HaveNoFault();
  Seconds([](int i) { return i < 8 ? JudgedSecond() : Storm(); });
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

TEST_F(MetastableTest, AClosedLoopTellsNoOfferedLoad) {
  Seconds([](int i) { return i < 8 ? JudgedSecond() : Storm(); });
  CloseLoop();
  EXPECT_THAT(Find("metastable").message(), IsEmpty());
}

// Poisson arrivals at rates from 20 to 2000 per second, with noise in what is
// served and how fast.
JudgedSecond NoisySecond(std::mt19937_64& random, double rate,
                         JudgedSecond second) {
  std::normal_distribution<double> noise(1, 0.05);
  second.offered = std::poisson_distribution<int64_t>(rate)(random);
  second.served_share =
      std::clamp(second.served_share * noise(random), 0.0, 1.0);
  second.attempts_per_request =
      std::max(1.0, second.attempts_per_request * noise(random));
  second.latency_ns = static_cast<int64_t>(
      static_cast<double>(second.latency_ns) * noise(random));
  return second;
}

TEST_F(MetastableTest, NoiseNeitherHidesNorMakesIt) {
  for (int seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const double rate = std::exp(std::uniform_real_distribution<double>(
        std::log(20), std::log(2000))(random));
    const int recovered_at = std::uniform_int_distribution<int>(10, 24)(random);
    const auto play = [&](int until) {
      Seconds([&](int i) {
        return NoisySecond(random, rate,
                           i < 8 || i >= until ? JudgedSecond() : Storm());
      });
      return Find("metastable").message();
    };
    EXPECT_THAT(play(kJudgedSeconds), HasSubstr("the fault \"freeze\""))
        << "seed " << seed;
    EXPECT_THAT(play(recovered_at), IsEmpty())
        << "seed " << seed << ", recovered at " << recovered_at;
    EXPECT_THAT(play(0), IsEmpty()) << "seed " << seed;
  }
}

}  // namespace

}  // namespace distbench::report
