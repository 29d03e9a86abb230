#include "distbench/products/protection/report/protection_format.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

// 1 000 values of which the columns of the table are the given ones.
stats::ValueDistribution WithColumns(const std::vector<double>& percents) {
  constexpr int kPositions[] = {0,   10,  50,  100, 250, 500,
                                750, 900, 950, 990, 999};
  std::vector<double> values;
  for (size_t i = 0; i < percents.size(); ++i) {
    const int count = i == 0 ? 1 : kPositions[i] - kPositions[i - 1];
    values.insert(values.end(), count, percents[i] / 100);
  }
  return stats::ValueDistribution(values);
}

// Rows of the report that this form comes from.
TEST(ProtectionFormatTest, RowsAreInTheKnownForm) {
  const std::string header = DistributionHeader();
  EXPECT_EQ(header,
            "              min   p01   p05   p10   p25   p50   p75   p90   p95"
            "   p99   max  mean stdev");
  const std::string isolation = FormatDistribution(
      "isol%", WithColumns({0, 0.49, 1.65, 2.24, 13.12, 50.90, 72.52, 82.12,
                            88.56, 100, 100}));
  EXPECT_TRUE(absl::StartsWith(
      isolation,
      "isol%           0  0.49  1.65  2.24 13.12 50.90 72.52 82.12 88.56 100.0"
      " 100.0 "))
      << isolation;
  EXPECT_EQ(isolation.size(), header.size());
  const std::string impact = FormatDistribution(
      "lat-imp%",
      WithColumns({0, 0, 0, 0, 4.69, 17, 40.54, 75.06, 121.9, 380.3, 882.5}));
  EXPECT_TRUE(absl::StartsWith(
      impact,
      "lat-imp%        0     0     0     0  4.69 17.00 40.54 75.06 121.9 380.3"
      " 882.5 "))
      << impact;
}

TEST(ProtectionFormatTest, RowsWithoutNumbersSaySo) {
  EXPECT_EQ(FormatDistribution("isol%", stats::ValueDistribution()),
            "isol%       not measured");
  const std::string failed = FormatDistribution(
      "lat-imp%",
      stats::ValueDistribution({stats::ValueDistribution::kInfinite}));
  EXPECT_TRUE(absl::EndsWith(failed, "  fail  fail     -     -")) << failed;
}

TEST(ProtectionFormatTest, SharesFitTheirColumn) {
  EXPECT_EQ(FormatShare(0), "0");
  EXPECT_EQ(FormatShare(0.00004), "0.00");
  EXPECT_EQ(FormatShare(0.455), "45.50");
  EXPECT_EQ(FormatShare(0.99994), "99.99");
  EXPECT_EQ(FormatShare(0.99996), "100.0");
  EXPECT_EQ(FormatShare(9.9994), "999.9");
  EXPECT_EQ(FormatShare(9.9996), "1000");
  EXPECT_EQ(FormatShare(999.994), "99999");
  EXPECT_EQ(FormatShare(12345), "1e+06");
  EXPECT_EQ(FormatShare(stats::ValueDistribution::kInfinite), "fail");
}

TEST(ProtectionFormatTest, LatenciesAreShort) {
  EXPECT_EQ(FormatLatency(0), "0");
  EXPECT_EQ(FormatLatency(42'200), "42.2u");
  EXPECT_EQ(FormatLatency(885'000), "885u");
  EXPECT_EQ(FormatLatency(999'600), "1.0m");
  EXPECT_EQ(FormatLatency(3'700'000), "3.7m");
  EXPECT_EQ(FormatLatency(49'500'000), "49.5m");
  EXPECT_EQ(FormatLatency(99'960'000), "100m");
  EXPECT_EQ(FormatLatency(150'000'000), "150m");
  EXPECT_EQ(FormatLatency(1'500'000'000), "1.5s");
  EXPECT_EQ(FormatLatency(250), "250n");
}

TEST(ProtectionFormatTest, NestedLatenciesAreMeanDeviationAndMaximum) {
  const NestedLatencies latencies = {
      .p50 = stats::ValueDistribution({1'000'000, 3'000'000}),
      .p90 = stats::ValueDistribution({2'000'000, 2'000'000}),
      .p99 = stats::ValueDistribution({150'000'000, 150'000'000}),
      .max = stats::ValueDistribution({500, 500})};
  EXPECT_EQ(FormatNestedLatencies(latencies),
            "p50=2.0m:1.4m/3.0m p90=2.0m:0/2.0m p99=150m:0/150m "
            "max=500n:0/500n");
  EXPECT_EQ(FormatNestedLatencies({}), "");
}

}  // namespace
}  // namespace distbench::protection
