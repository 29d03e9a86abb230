// The tail at scale on simulated hosts, against theory:
// docs/products/tail_at_scale.md.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/products/simulation/variation/variation.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

constexpr double kSlowShare = 0.01;  // of the leaves' answers
constexpr char kQuorum[] = "test.rpc_descriptions[leaf_query].policy.quorum";
constexpr char kHedging[] = "test.rpc_descriptions[leaf_query].policy.hedging";

// The times of the queries, of the config with these variations.
std::vector<stats::LogHistogram> QueryTimes(
    const std::vector<std::string>& texts) {
  VariationRequest request;
  request.tests = *config::LoadTestSequence("workloads/tail_at_scale.config");
  for (const std::string& text : texts) {
    request.variations.push_back(*ParseVariation(text));
  }
  test_builder::Notes notes;
  const auto varied = VaryTests(std::move(request), notes);
  EXPECT_TRUE(varied.ok()) << varied.status();
  std::vector<stats::LogHistogram> all;
  if (!varied.ok()) return all;
  for (const DistributedSystemDescription& test : varied->sequence.tests()) {
    const auto result = RunSimulatedTest(test, {});
    EXPECT_TRUE(result.ok()) << result.status();
    stats::LogHistogram& times_ns = all.emplace_back();
    if (!result.ok()) continue;
    const auto& logs = result->service_logs().instance_logs();
    EXPECT_TRUE(results::AddHistogram(logs.at("client/0")
                                          .peer_logs()
                                          .at("root/0")
                                          .rpc_logs()
                                          .at(0)
                                          .statistics()
                                          .service_time_ns(),
                                      times_ns)
                    .ok());
  }
  return all;
}

// Whether as many queries are slow as with this probability: within 3.5
// standard deviations, and half a query.
void ExpectSlow(const stats::LogHistogram& times_ns, double probability) {
  const double count = static_cast<double>(times_ns.count());
  ASSERT_GT(count, 1000);
  const double slow =
      count - static_cast<double>(times_ns.CountAtMost(500'000'000));
  const double sigma = std::sqrt(count * probability * (1 - probability));
  EXPECT_NEAR(slow, count * probability, 3.5 * sigma + 0.5);
}

// That more than `k` of `n` leaves are slow.
double MoreAreSlowThan(int k, int n, double probability) {
  double none = 1;
  double term = std::pow(1 - probability, n);
  for (int i = 0; i <= k; ++i) {
    none -= term;
    term *= probability / (1 - probability) * (n - i) / (i + 1);
  }
  return none;
}

TEST(TailAtScaleTest, AQueryIsSlowIfAnyLeafIs) {
  const std::vector<stats::LogHistogram> times =
      QueryTimes({"service.leaf=1,10,100"});
  ASSERT_EQ(times.size(), 3);
  ExpectSlow(times[0], kSlowShare);
  ExpectSlow(times[1], 1 - std::pow(1 - kSlowShare, 10));
  ExpectSlow(times[2], 1 - std::pow(1 - kSlowShare, 100));
  // The largest of 10 answers is at most 5 ms + u * 10 ms with probability
  // (0.99 u)^10. The stack takes up to 0.4 ms.
  const double median_ns = 5e6 + 1e7 * std::pow(0.5, 0.1) / (1 - kSlowShare);
  EXPECT_NEAR(times[1].ValueAtQuantile(0.5), median_ns + 2e5, 3e5);
}

TEST(TailAtScaleTest, AHedgedLeafIsSlowIfItIsTwice) {
  const std::vector<stats::LogHistogram> times =
      QueryTimes({"service.leaf=300", absl::StrCat(kHedging, ".delay=20ms")});
  ASSERT_EQ(times.size(), 1);
  ExpectSlow(times[0], 1 - std::pow(1 - kSlowShare * kSlowShare, 300));
}

TEST(TailAtScaleTest, AQuorumIsSlowIfTooManyLeavesAre) {
  const std::vector<stats::LogHistogram> times =
      QueryTimes({"service.leaf=100", absl::StrCat(kQuorum, ".answers=97,99")});
  ASSERT_EQ(times.size(), 2);
  ExpectSlow(times[0], MoreAreSlowThan(3, 100, kSlowShare));
  ExpectSlow(times[1], MoreAreSlowThan(1, 100, kSlowShare));
}

}  // namespace
}  // namespace distbench::simulation
