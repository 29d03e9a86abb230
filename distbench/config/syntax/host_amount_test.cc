// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/quantity.h"

#include <iterator>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;
using Kind = HostAmount::Kind;

HostAmount Memory(const std::string& text) {
  const auto amount = ParseMemoryAmount(text);
  EXPECT_TRUE(amount.ok()) << amount.status();
  return amount.value_or(HostAmount());
}

HostAmount Cpus(const std::string& text) {
  const auto amount = ParseCpuAmount(text);
  EXPECT_TRUE(amount.ok()) << amount.status();
  return amount.value_or(HostAmount());
}

TEST(ParseMemoryAmount, ReadsSizesSharesAndNoLimit) {
  EXPECT_EQ(Memory("512MiB"), (HostAmount{Kind::kAbsolute, 536'870'912}));
  EXPECT_EQ(Memory("0B"), (HostAmount{Kind::kAbsolute, 0}));
  EXPECT_EQ(Memory("12.5%"), (HostAmount{Kind::kPercentOfHost, 12.5}));
  EXPECT_EQ(Memory("100%"), (HostAmount{Kind::kPercentOfHost, 100}));
  EXPECT_EQ(Memory("max"), HostAmount());
}

TEST(ParseMemoryAmount, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"", "%", "MAX", "512", "-1B", "-5%", "1e2%", "nan%", "5 %", "1.2.3%"}) {
    EXPECT_THAT(std::string(ParseMemoryAmount(text).status().message()),
                HasSubstr("share of the host's memory is such as 75%"))
        << text;
  }
  EXPECT_THAT(std::string(ParseMemoryAmount("100.1%").status().message()),
              HasSubstr("\"100.1%\" is out of range; must be above 0%"));
  EXPECT_THAT(std::string(ParseMemoryAmount("0%").status().message()),
              HasSubstr("is out of range"));
}

TEST(ParseCpuAmount, ReadsCpusSharesAndNoLimit) {
  EXPECT_EQ(Cpus("1.5"), (HostAmount{Kind::kAbsolute, 1.5}));
  EXPECT_EQ(Cpus("0.01"), (HostAmount{Kind::kAbsolute, kMinCpus}));
  EXPECT_EQ(Cpus("65536"), (HostAmount{Kind::kAbsolute, kMaxCpus}));
  EXPECT_EQ(Cpus("50%"), (HostAmount{Kind::kPercentOfHost, 50}));
  EXPECT_EQ(Cpus("max"), HostAmount());
}

TEST(ParseCpuAmount, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"", ".", "two", "-1", "+1", "1e1", "inf", "nan", "1 ", "1CPU"}) {
    EXPECT_THAT(std::string(ParseCpuAmount(text).status().message()),
                HasSubstr("write a number of CPUs such as 1.5"))
        << text;
  }
  for (const std::string text : {"0", "0.009", "65537", "0%", "100.5%"}) {
    EXPECT_THAT(std::string(ParseCpuAmount(text).status().message()),
                HasSubstr("is out of range"))
        << text;
  }
}

TEST(HostAmountProperty, AnythingIsRefusedOrHasOneText) {
  std::mt19937_64 random(1);
  constexpr char kParts[][4] = {"0", "1", "9",   ".",  "%",   "max", "-",
                                "e", "B", "MiB", "kB", "inf", " ",   "n"};
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (int n = random() % 6; n > 0; --n) {
      text += kParts[random() % std::size(kParts)];
    }
    if (const auto amount = ParseMemoryAmount(text); amount.ok()) {
      EXPECT_EQ(Memory(FormatMemoryAmount(*amount)), *amount) << text;
    }
    if (const auto amount = ParseCpuAmount(text); amount.ok()) {
      EXPECT_EQ(Cpus(FormatCpuAmount(*amount)), *amount) << text;
    }
  }
}

}  // namespace
}  // namespace distbench::config
