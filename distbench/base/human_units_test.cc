// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/human_units.h"

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(HumanDurationTest, HasThreeDigitsAndItsUnit) {
  EXPECT_EQ(HumanDuration(0), "0 ns");
  EXPECT_EQ(HumanDuration(345), "345 ns");
  EXPECT_EQ(HumanDuration(999.4), "999 ns");
  EXPECT_EQ(HumanDuration(999.6), "1.00 us");
  EXPECT_EQ(HumanDuration(1'234), "1.23 us");
  EXPECT_EQ(HumanDuration(59'637'759), "59.6 ms");
  EXPECT_EQ(HumanDuration(999'600'000), "1.00 s");
  EXPECT_EQ(HumanDuration(1.26e9), "1.26 s");
  EXPECT_EQ(HumanDuration(6.2004e12), "6200 s");
  EXPECT_EQ(HumanDuration(-1'500), "-1.50 us");
}

// Beside a limit of 20 ms, 20.0 ms would not tell on which side it is.
TEST(PreciseDurationTest, HasFourDigits) {
  EXPECT_EQ(PreciseDuration(0), "0 ns");
  EXPECT_EQ(PreciseDuration(345), "345 ns");
  EXPECT_EQ(PreciseDuration(345.25), "345.2 ns");
  EXPECT_EQ(PreciseDuration(20'040'000), "20.04 ms");
  EXPECT_EQ(PreciseDuration(2e9), "2.000 s");
  EXPECT_EQ(PreciseDuration(999.6), "1.000 us");
  EXPECT_EQ(PreciseDuration(349'176'000), "349.2 ms");
  EXPECT_EQ(PreciseDuration(6.2004e12), "6200 s");
}

TEST(HumanRateTest, HasNoBlankWithoutAPrefix) {
  EXPECT_EQ(HumanRate(0), "0/s");
  EXPECT_EQ(HumanRate(0.25), "0.25/s");
  EXPECT_EQ(HumanRate(510), "510/s");
  EXPECT_EQ(HumanRate(16), "16/s");
  EXPECT_EQ(HumanRate(15.98), "16.0/s");
  EXPECT_EQ(HumanRate(10'980), "11.0 k/s");
  EXPECT_EQ(HumanRate(1'620.4), "1.62 k/s");
  EXPECT_EQ(HumanRate(999'999), "1.00 M/s");
  EXPECT_EQ(HumanRate(12'340'000), "12.3 M/s");
  EXPECT_EQ(HumanRate(1.2345e9), "1234 M/s");
}

TEST(HumanPercentTest, HasThreeDigits) {
  EXPECT_EQ(HumanPercent(0), "0 %");
  EXPECT_EQ(HumanPercent(0.000'123'4), "0.0123 %");
  EXPECT_EQ(HumanPercent(0.031), "3.10 %");
  EXPECT_EQ(HumanPercent(0.999'6), "100 %");
}

TEST(HumanBytesTest, HasPowersOf1024) {
  EXPECT_EQ(HumanBytes(512), "512 B");
  EXPECT_EQ(HumanBytes(1 << 20), "1.0 MiB");
  EXPECT_EQ(HumanBytes(1258291), "1.2 MiB");
  EXPECT_EQ(HumanBytes(512110190592.0), "477 GiB");
  EXPECT_EQ(HumanBytes(99.96 * 1024), "100 KiB");
  EXPECT_EQ(HumanBytes(5e15), "4547 TiB");
}

TEST(ShortBytesTest, HaveTheUnitsOfManuals) {
  EXPECT_EQ(ShortBytes(512), "512");
  EXPECT_EQ(ShortBytes(1 << 20), "1.0M");
  EXPECT_EQ(ShortBytes(1258291), "1.2M");
  EXPECT_EQ(ShortBytes(512110190592.0), "477G");
  EXPECT_EQ(ShortBytes(99.96 * 1024), "100K");
  EXPECT_EQ(ShortBytes(5e15), "4547T");
}

TEST(NumberInFullTest, CountsHaveNoExponent) {
  EXPECT_EQ(NumberInFull(0), "0");
  EXPECT_EQ(NumberInFull(-1e9), "-1000000000");
  EXPECT_EQ(NumberInFull(1e15), "1e+15");
  EXPECT_EQ(NumberInFull(0.1234567891), "0.123456789");
}

}  // namespace
}  // namespace distbench::base
