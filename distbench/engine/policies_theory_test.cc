// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Policies of callers against theory, on simulated time with fixed seeds.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/scripted_servers.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using Answer = ScriptedServers::Answer;

double ServiceMs(const PolicyOutcome& outcome, double quantile) {
  stats::LogHistogram histogram;
  EXPECT_TRUE(
      results::AddHistogram(outcome.rpc.service_time_ns(), histogram).ok());
  return static_cast<double>(histogram.ValueAtQuantile(quantile)) / kMs;
}

// Times that are exponential, with another mean for server 0.
ScriptedServers::Script ExponentialServers(double mean_ms,
                                           double slow_mean_ms) {
  return [=, random = std::mt19937_64(7)](const protocol::ClientCall& call,
                                          int64_t) mutable {
    const double ms = call.server_instance == 0 ? slow_mean_ms : mean_ms;
    return Answer{std::llround(absl::Exponential(random, 1 / ms) * kMs)};
  };
}

// A tier of n replicas, one of them slow, each request to a random one, and a
// hedge after d to another: the probability that it takes longer than t, and
// that it is hedged.
struct HedgedTier {
  int n;
  double mean_ms;
  double slow_mean_ms;
  double delay_ms;

  double Slow(double t) const {
    return std::exp(-std::max(t, 0.0) / slow_mean_ms);
  }
  double Good(double t) const { return std::exp(-std::max(t, 0.0) / mean_ms); }
  double Unhedged(double t) const {
    return Slow(t) / n + Good(t) * (n - 1) / n;
  }
  double Hedged(double t) const {
    if (t <= delay_ms) return Unhedged(t);
    const double after = t - delay_ms;
    return Slow(t) / n * Good(after) +
           Good(t) * (n - 1) / n *
               (Slow(after) / (n - 1) + Good(after) * (n - 2) / (n - 1));
  }
  double extra_load() const { return Unhedged(delay_ms); }
};

double Inverse(const std::function<double(double)>& survival, double p) {
  double low = 0;
  double high = 10'000;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (survival(middle) > p ? low : high) = middle;
  }
  return low;
}

// The table in docs/policies.md is what this prints.
TEST(PoliciesTheoryTest, HedgingOnATierWithOneSlowReplica) {
  constexpr int kServers = 10;
  constexpr double kMeanMs = 1;
  constexpr double kSlowMeanMs = 50;
  const HedgedTier tier = {kServers, kMeanMs, kSlowMeanMs, 0};
  const double plain_p99 =
      Inverse([&](double t) { return tier.Unhedged(t); }, 0.01);
  absl::PrintF(
      "hedged after | p99, theory | p99 | extra load, theory | extra\n");
  const auto run = [&](const std::string& hedging) {
    ScriptedServers servers(ExponentialServers(kMeanMs, kSlowMeanMs));
    return PolicyOutcome(servers.Run(PolicyTest(
        absl::StrCat("load_balancing: 'random' ", hedging),
        "max_iteration_count: 60000 max_parallel_iterations: 10", kServers)));
  };
  const PolicyOutcome plain = run("");
  EXPECT_NEAR(ServiceMs(plain, 0.99), plain_p99, 0.05 * plain_p99);
  absl::PrintF("never | %.1f ms | %.1f ms | 0 | 0\n", plain_p99,
               ServiceMs(plain, 0.99));
  for (const double delay_ms : {1.0, 3.0, 5.0, 10.0, 20.0}) {
    HedgedTier hedged = tier;
    hedged.delay_ms = delay_ms;
    const PolicyOutcome outcome =
        run(absl::StrCat("hedging { delay: '", delay_ms, "ms' }"));
    const double p99 =
        Inverse([&](double t) { return hedged.Hedged(t); }, 0.01);
    const double extra =
        static_cast<double>(outcome.policy.hedge_count()) / 60'000;
    absl::PrintF("%.0f ms | %.1f ms | %.1f ms | %.1f %% | %.1f %%\n", delay_ms,
                 p99, ServiceMs(outcome, 0.99), 100 * hedged.extra_load(),
                 100 * extra);
    EXPECT_NEAR(ServiceMs(outcome, 0.99), p99, 0.05 * p99) << delay_ms;
    EXPECT_NEAR(extra, hedged.extra_load(), 0.02 * hedged.extra_load() + 0.001)
        << delay_ms;
  }
}

// Hedged at the q-th percentile of times, a part of 1 - q of the requests is,
// also if the times of losers, and of what a quorum did not need, are not known
// because these are cancelled. One server is far slower than the others.
TEST(PoliciesTheoryTest, APercentileFixesTheExtraLoad) {
  constexpr int kServers = 10;
  for (const char* targets :
       {"load_balancing: 'random'", "quorum { answers: 6 }"}) {
    for (const bool can_cancel : {false, true}) {
      for (const double percentile : {50.0, 80.0, 95.0}) {
        ScriptedServers servers(ExponentialServers(1, 50), can_cancel);
        const PolicyOutcome outcome(servers.Run(PolicyTest(
            absl::StrCat(targets, " hedging { percentile: ", percentile, " }"),
            "max_iteration_count: 20000 max_parallel_iterations: 10",
            kServers)));
        EXPECT_NEAR(static_cast<double>(outcome.policy.hedge_count()) /
                        static_cast<double>(outcome.policy.request_count()),
                    1 - percentile / 100, 0.015)
            << targets << (can_cancel ? ", cancelled" : ", not cancelled");
      }
    }
  }
}

// The k-th of n exponential times has the mean (H_n - H_(n-k)) / rate.
TEST(PoliciesTheoryTest, AQuorumTakesAsLongAsItsOrderStatistic) {
  constexpr int kTargets = 7;
  for (int k = 1; k <= kTargets; ++k) {
    ScriptedServers servers(ExponentialServers(10, 10));
    const PolicyOutcome outcome(servers.Run(PolicyTest(
        absl::Substitute("quorum { answers: $0 }", k),
        "max_iteration_count: 10000 max_parallel_iterations: 5", kTargets)));
    double mean_ms = 0;
    double variance = 0;
    for (int i = kTargets - k + 1; i <= kTargets; ++i) {
      mean_ms += 10.0 / i;
      variance += 100.0 / i / i;
    }
    ASSERT_EQ(results::HistogramOf(outcome.policy.quorum_time_ns()).count(),
              10'000);
    // Four standard errors.
    EXPECT_NEAR(outcome.policy.quorum_time_ns().sum() / 10'000 / kMs, mean_ms,
                4 * std::sqrt(variance / 10'000))
        << k;
    EXPECT_EQ(outcome.policy.not_needed_count(), 10'000 * (kTargets - k));
  }
}

// With failures of probability p, a request needs 1 / (1 - p) attempts, and
// all of m fail with probability p^m.
TEST(PoliciesTheoryTest, RetriesAreGeometric) {
  ScriptedServers servers([random = std::mt19937_64(3)](
                              const protocol::ClientCall&, int64_t) mutable {
    return Answer{kMs, absl::Bernoulli(random, 0.4) ? "ABORTED: no" : ""};
  });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("retry { max_attempts: 3 initial_backoff: '1ms' }",
                 "max_iteration_count: 50000 open_loop_interval_ns: 1000000")));
  EXPECT_NEAR(outcome.rpc.failed_count() / 50'000.0, 0.4 * 0.4 * 0.4, 0.004);
  EXPECT_NEAR(outcome.policy.attempt_count() / 50'000.0, 1 + 0.4 + 0.16, 0.015);
}

// Servers with `places` each, first come first served.
ScriptedServers::Script QueueingServers(int servers, int places,
                                        int64_t service_ns) {
  std::vector<std::vector<int64_t>> free_at_ns(servers,
                                               std::vector<int64_t>(places));
  return [=](const protocol::ClientCall& call, int64_t now_ns) mutable {
    auto& of_server = free_at_ns[call.server_instance];
    int64_t& place = *std::min_element(of_server.begin(), of_server.end());
    place = std::max(place, now_ns) + service_ns;
    return Answer{place - now_ns};
  };
}

// As computed in attempts.h: limit = 2 n + sqrt(limit).
TEST(PoliciesTheoryTest, TheGradientFindsTheServersPlaces) {
  constexpr int kPlaces = 8;
  ScriptedServers servers(QueueingServers(1, kPlaces, 10 * kMs));
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "concurrency_limit { kind: 'gradient' limit: 4 } retry { "
      "max_attempts: 100 codes: 'RESOURCE_EXHAUSTED' initial_backoff: '1ms' "
      "max_backoff: '1ms' multiplier: 1 }",
      "max_duration: '100s' max_parallel_iterations: 60")));
  const double root = (1 + std::sqrt(1 + 8.0 * kPlaces)) / 2;
  const double mean_limit = outcome.policy.concurrency_limit().sum() /
                            outcome.policy.concurrency_limit().count();
  EXPECT_NEAR(mean_limit, root * root, 0.1 * root * root);
  // All places are busy.
  EXPECT_NEAR(outcome.policy.succeeded_attempt_count(), 100 * 100 * kPlaces,
              0.02 * 100 * 100 * kPlaces);
}

// Requests of one caller to servers with one place each, at 80 % of what they
// can do: waiting is far shorter with a choice of two.
TEST(PoliciesTheoryTest, TwoChoicesShortenQueues) {
  const auto p99_ms = [](const char* kind) {
    ScriptedServers servers(QueueingServers(20, 1, kMs));
    return ServiceMs(
        PolicyOutcome(servers.Run(PolicyTest(
            absl::Substitute("load_balancing: '$0'", kind),
            "max_iteration_count: 40000 open_loop_interval_ns: 62500 "
            "open_loop_interval_distribution: 'exponential'",
            /*servers=*/20))),
        0.99);
  };
  const double random = p99_ms("random");
  const double two_choices = p99_ms("two_choices");
  EXPECT_GT(random, 2.5 * two_choices);
  EXPECT_LT(p99_ms("least_in_flight"), two_choices);
}

}  // namespace
}  // namespace distbench::engine
