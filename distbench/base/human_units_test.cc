// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/human_units.h"

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(HumanDurationTest, HasThreeDigitsAndItsUnit) {
  EXPECT_EQ(HumanDuration(0), "0ns");
  EXPECT_EQ(HumanDuration(345), "345ns");
  EXPECT_EQ(HumanDuration(999.4), "999ns");
  EXPECT_EQ(HumanDuration(999.6), "1.00us");
  EXPECT_EQ(HumanDuration(1'234), "1.23us");
  EXPECT_EQ(HumanDuration(59'637'759), "59.6ms");
  EXPECT_EQ(HumanDuration(999'600'000), "1.00s");
  EXPECT_EQ(HumanDuration(1.26e9), "1.26s");
  EXPECT_EQ(HumanDuration(6.2004e12), "6200s");
  EXPECT_EQ(HumanDuration(-1'500), "-1.50us");
}

TEST(HumanRateTest, IsWrittenAsInConfigs) {
  EXPECT_EQ(HumanRate(0), "0/s");
  EXPECT_EQ(HumanRate(0.25), "0.25/s");
  EXPECT_EQ(HumanRate(510), "510/s");
  EXPECT_EQ(HumanRate(16), "16/s");
  EXPECT_EQ(HumanRate(15.98), "16.0/s");
  EXPECT_EQ(HumanRate(10'980), "11.0k/s");
  EXPECT_EQ(HumanRate(1'620.4), "1.62k/s");
  EXPECT_EQ(HumanRate(999'999), "1.00M/s");
  EXPECT_EQ(HumanRate(12'340'000), "12.3M/s");
  EXPECT_EQ(HumanRate(1.2345e9), "1234M/s");
}

TEST(HumanPercentTest, HasThreeDigits) {
  EXPECT_EQ(HumanPercent(0), "0%");
  EXPECT_EQ(HumanPercent(0.000'123'4), "0.0123%");
  EXPECT_EQ(HumanPercent(0.031), "3.10%");
  EXPECT_EQ(HumanPercent(0.999'6), "100%");
}

TEST(HumanBytesTest, HaveTheUnitsOfManuals) {
  EXPECT_EQ(HumanBytes(512), "512");
  EXPECT_EQ(HumanBytes(1 << 20), "1.0M");
  EXPECT_EQ(HumanBytes(1258291), "1.2M");
  EXPECT_EQ(HumanBytes(512110190592.0), "477G");
  EXPECT_EQ(HumanBytes(99.96 * 1024), "100K");
  EXPECT_EQ(HumanBytes(5e15), "4547T");
}

TEST(NumberInFullTest, CountsHaveNoExponent) {
  EXPECT_EQ(NumberInFull(0), "0");
  EXPECT_EQ(NumberInFull(-1e9), "-1000000000");
  EXPECT_EQ(NumberInFull(1e15), "1e+15");
  EXPECT_EQ(NumberInFull(0.1234567891), "0.123456789");
}

}  // namespace
}  // namespace distbench::base
