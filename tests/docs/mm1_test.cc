// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that workloads/mm1.config is the queue that it claims to be.

#include <cmath>
#include <utility>

#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench {
namespace {

stats::LogHistogram ResponseTimes(int64_t random_seed) {
  auto tests = config::LoadTestSequence("workloads/mm1.config");
  EXPECT_TRUE(tests.ok()) << tests.status();
  tests->mutable_tests(0)->set_default_protocol("loopback");
  tests->mutable_tests(0)->set_random_seed(random_seed);
  const auto checked = config::CheckTestSequence(*std::move(tests));
  EXPECT_TRUE(checked.ok()) << checked.status();
  engine::VirtualTimeSystem system(checked->tests(0),
                                   engine::VirtualTimeOptions());
  EXPECT_TRUE(system.Run());
  stats::LogHistogram times_ns;
  EXPECT_TRUE(results::AddHistogram(
                  engine::StatisticsOf(system.Finish(), "client/0", "server/0")
                      .response_time_ns(),
                  times_ns)
                  .ok());
  return times_ns;
}

// The tolerance is four standard errors of ten minutes of a queue whose busy
// periods last milliseconds: about 1.5 % of the mean and 2 % of the percentile.
TEST(MM1Test, ResponseTimesAreThoseOfTheory) {
  stats::LogHistogram times_ns;
  for (int64_t seed = 1; seed <= 10; ++seed) {
    times_ns.Merge(ResponseTimes(seed));
  }
  EXPECT_NEAR(times_ns.mean(), 4e6, 0.06e6);
  EXPECT_NEAR(static_cast<double>(times_ns.ValueAtQuantile(0.95)),
              4e6 * std::log(20), 0.24e6);
}

}  // namespace
}  // namespace distbench
