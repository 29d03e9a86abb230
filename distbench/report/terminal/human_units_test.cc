#include "distbench/report/terminal/human_units.h"

#include "gtest/gtest.h"

namespace distbench::report {
namespace {

TEST(HumanDurationTest, HasThreeDigitsAndItsUnit) {
  EXPECT_EQ(HumanDuration(0), "0ns");
  EXPECT_EQ(HumanDuration(345), "345ns");
  EXPECT_EQ(HumanDuration(999.4), "999ns");
  EXPECT_EQ(HumanDuration(999.6), "1us");
  EXPECT_EQ(HumanDuration(1'234), "1.23us");
  EXPECT_EQ(HumanDuration(59'637'759), "59.6ms");
  EXPECT_EQ(HumanDuration(999'600'000), "1s");
  EXPECT_EQ(HumanDuration(1.26e9), "1.26s");
  EXPECT_EQ(HumanDuration(6.2004e12), "6200s");
  EXPECT_EQ(HumanDuration(-1'500), "-1.5us");
}

TEST(HumanRateTest, IsWrittenAsInConfigs) {
  EXPECT_EQ(HumanRate(0), "0/s");
  EXPECT_EQ(HumanRate(0.25), "0.25/s");
  EXPECT_EQ(HumanRate(510), "510/s");
  EXPECT_EQ(HumanRate(1'620.4), "1.62k/s");
  EXPECT_EQ(HumanRate(999'999), "1M/s");
  EXPECT_EQ(HumanRate(12'340'000), "12.3M/s");
  EXPECT_EQ(HumanRate(1.2345e9), "1234M/s");
}

TEST(HumanBytesTest, HaveTheUnitsOfManuals) {
  EXPECT_EQ(HumanBytes(512), "512");
  EXPECT_EQ(HumanBytes(1 << 20), "1.0M");
  EXPECT_EQ(HumanBytes(1258291), "1.2M");
  EXPECT_EQ(HumanBytes(512110190592.0), "477G");
  EXPECT_EQ(HumanBytes(99.96 * 1024), "100K");
  EXPECT_EQ(HumanBytes(5e15), "4547T");
}

}  // namespace
}  // namespace distbench::report
