#include "distbench/report/objectives/growth.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::report {
namespace {

std::vector<stats::Outcomes> Blocks(const std::vector<int64_t>& latencies_ns) {
  std::vector<stats::Outcomes> blocks(latencies_ns.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].latency_ns.RecordN(latencies_ns[i], 100);
  }
  return blocks;
}

TEST(HasGrownTest, KnowsAQueueThatOnlyGrows) {
  EXPECT_TRUE(HasGrown(Blocks({1000, 2000, 3000, 4000, 5000, 6000, 7000})));
  EXPECT_TRUE(HasGrown(Blocks({100, 110, 500, 510})));
}

TEST(HasGrownTest, IgnoresWhatShrinksOrStays) {
  EXPECT_FALSE(HasGrown(Blocks({7000, 6000, 5000, 4000, 3000, 2000, 1000})));
  EXPECT_FALSE(HasGrown(Blocks({100, 100, 100, 100})));
  // A burst at the end.
  EXPECT_FALSE(HasGrown(Blocks({100, 110, 90, 100, 110, 900})));
}

TEST(HasGrownTest, NeedsFourBlocksWithLatencies) {
  EXPECT_FALSE(HasGrown({}));
  EXPECT_FALSE(HasGrown(Blocks({100, 500, 510})));
  std::vector<stats::Outcomes> blocks = Blocks({100, 110, 500, 510});
  blocks[1] = {.failed_count = 100};
  EXPECT_FALSE(HasGrown(blocks));
}

TEST(HasGrownTest, SeldomMistakesChanceForGrowth) {
  constexpr int kRuns = 2000;
  std::mt19937_64 random(1);
  std::exponential_distribution<> latency_ns(1e-6);
  int grown = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<int64_t> values(10);
    for (int64_t& value : values) {
      value = 0;
      for (int i = 0; i < 10; ++i) value += latency_ns(random) / 10;
    }
    grown += HasGrown(Blocks(values));
  }
  EXPECT_LT(grown, kRuns * 0.02);
}

}  // namespace
}  // namespace distbench::report
