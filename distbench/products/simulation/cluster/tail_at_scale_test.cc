// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tail at scale on simulated hosts, against theory:
// docs/products/tail_at_scale.md.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

constexpr double kSlowShare = 0.01;  // of the leaves' answers

// The times of the queries, with so many leaves and this policy of the root.
stats::LogHistogram QueryTimes(int leaves, const std::string& policy = "") {
  TestSequence sequence =
      *config::LoadTestSequence("workloads/tail_at_scale.config");
  DistributedSystemDescription& test = *sequence.mutable_tests(0);
  for (ServiceSpec& service : *test.mutable_services()) {
    if (service.name() == "leaf") service.set_count(leaves);
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (rpc.name() != "leaf_query" || policy.empty()) continue;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        policy, rpc.mutable_policy()));
  }
  stats::LogHistogram times_ns;
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  if (!checked.ok()) return times_ns;
  const auto result = RunSimulatedTest(checked->tests(0), {});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return times_ns;
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
  return times_ns;
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
  for (const int leaves : {1, 10, 100}) {
    const stats::LogHistogram times_ns = QueryTimes(leaves);
    ExpectSlow(times_ns, 1 - std::pow(1 - kSlowShare, leaves));
    if (leaves != 10) continue;
    // The largest of 10 answers is at most 5 ms + u * 10 ms with probability
    // (0.99 u)^10. The stack takes up to 0.4 ms.
    const double median_ns = 5e6 + 1e7 * std::pow(0.5, 0.1) / (1 - kSlowShare);
    EXPECT_NEAR(times_ns.ValueAtQuantile(0.5), median_ns + 2e5, 3e5);
  }
}

TEST(TailAtScaleTest, AHedgedLeafIsSlowIfItIsTwice) {
  ExpectSlow(QueryTimes(300, "hedging { delay: '20ms' }"),
             1 - std::pow(1 - kSlowShare * kSlowShare, 300));
}

TEST(TailAtScaleTest, AQuorumIsSlowIfTooManyLeavesAre) {
  for (const int answers : {97, 99}) {
    ExpectSlow(
        QueryTimes(100, absl::StrCat("quorum { answers: ", answers, " }")),
        MoreAreSlowThan(100 - answers, 100, kSlowShare));
  }
}

}  // namespace
}  // namespace distbench::simulation
