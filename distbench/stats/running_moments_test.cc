#include "distbench/stats/running_moments.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

void ExpectEqual(const RunningMoments& a, const RunningMoments& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.sum_of_squares, b.sum_of_squares);
}

RunningMoments Of(const std::vector<int64_t>& values) {
  RunningMoments moments;
  moments.RecordEach(values, [](int64_t value) { return value; });
  return moments;
}

TEST(RunningMomentsTest, AreThoseOfAHistogram) {
  LogHistogram histogram;
  for (const int64_t value : {70, -3, 5'000, 70}) histogram.Record(value);
  ExpectEqual(RunningMoments(histogram), Of({70, -3, 5'000, 70}));
  ExpectEqual(RunningMoments(LogHistogram()), RunningMoments());
}

TEST(RunningMomentsTest, AddUp) {
  RunningMoments moments = Of({7, 9});
  moments.Merge(Of({1'000, 8}));
  ExpectEqual(moments, Of({7, 9, 1'000, 8}));
  moments.Merge(RunningMoments());
  ExpectEqual(moments, Of({7, 9, 1'000, 8}));
}

}  // namespace
}  // namespace distbench::stats
