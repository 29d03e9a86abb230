// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/quantity.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::HasSubstr;

int64_t Nanoseconds(const std::string& text) {
  const auto duration = ParseDurationWithUnit(text);
  EXPECT_TRUE(duration.ok()) << duration.status();
  return absl::ToInt64Nanoseconds(duration.value_or(absl::ZeroDuration()));
}

double PerSecond(const std::string& text) {
  const auto rate = ParseRateWithUnit(text);
  EXPECT_TRUE(rate.ok()) << rate.status();
  return rate.value_or(0);
}

int64_t Bytes(const std::string& text) {
  const auto size = ParseSizeWithUnit(text);
  EXPECT_TRUE(size.ok()) << size.status();
  return size.value_or(0);
}

TEST(ParseDurationWithUnit, ReadsEveryUnit) {
  EXPECT_EQ(Nanoseconds("7ns"), 7);
  EXPECT_EQ(Nanoseconds("7us"), 7'000);
  EXPECT_EQ(Nanoseconds("500ms"), 500'000'000);
  EXPECT_EQ(Nanoseconds("1.5s"), 1'500'000'000);
  EXPECT_EQ(Nanoseconds("1h30m"), 5'400'000'000'000);
  EXPECT_EQ(Nanoseconds("0s"), 0);
  EXPECT_EQ(Nanoseconds("9223372036.854775807s"), 9'223'372'036'854'775'807);
}

TEST(ParseDurationWithUnit, RoundsToTheNearestNanosecond) {
  EXPECT_EQ(Nanoseconds("0.0000000014s"), 1);
  EXPECT_EQ(Nanoseconds("0.0000000016s"), 2);
  EXPECT_EQ(Nanoseconds("0.4ns"), 0);
}

TEST(ParseDurationWithUnit, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"",      "4",      "s",    "4 s",  " 4s",
        "4s ",   "-4s",    "+4s",  "4x",   "1e3s",
        "1e30s", "inf",    "-inf", "nan",  "4S",
        "4min",  "1.2.3s", "4s\n", "0x4s", "99999999999999999999999s"}) {
    const auto duration = ParseDurationWithUnit(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_EQ(duration.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(duration.status().message()),
                HasSubstr("is not a duration; write it with its unit, such as "
                          "500ms, 4s or 1h30m"));
  }
  EXPECT_THAT(std::string(ParseDurationWithUnit("4x").status().message()),
              HasSubstr("\"4x\""));
  for (const std::string text :
       {"9223372036.854775808s", "2562048h", "99999999999999h"}) {
    EXPECT_THAT(std::string(ParseDurationWithUnit(text).status().message()),
                HasSubstr("is too long"));
  }
}

TEST(ParseRateWithUnit, ReadsEveryUnitAndPrefix) {
  EXPECT_EQ(PerSecond("200/s"), 200);
  EXPECT_EQ(PerSecond("0.25/s"), 0.25);
  EXPECT_EQ(PerSecond("1.5k/s"), 1500);
  EXPECT_EQ(PerSecond("2M/s"), 2e6);
  EXPECT_EQ(PerSecond("6/min"), 0.1);
  EXPECT_EQ(PerSecond("1k/h"), 1000.0 / 3600);
}

TEST(ParseRateWithUnit, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"",       "200",    "/s",      "k/s",   "200/",  "200/ms", "200 /s",
        "200/m",  "-1/s",   "+1/s",    "nan/s", "inf/s", "1e3/s",  "1e30/s",
        "200qps", "1..5/s", "200/s/s", "2K/s",  "200s",  "0x10/s"}) {
    const auto rate = ParseRateWithUnit(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_EQ(rate.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(rate.status().message()),
                HasSubstr("is not a rate; write it with its unit, such as "
                          "200/s, 1.5k/s or 6/min"))
        << text;
  }
  for (const std::string& text :
       {std::string("0/s"), "0." + std::string(400, '0') + "1/s",
        std::string(400, '9') + "/s"}) {
    EXPECT_THAT(std::string(ParseRateWithUnit(text).status().message()),
                HasSubstr("a rate must be above 0"));
  }
}

TEST(ParseSizeWithUnit, ReadsEveryUnit) {
  EXPECT_EQ(Bytes("0B"), 0);
  EXPECT_EQ(Bytes("100B"), 100);
  EXPECT_EQ(Bytes("2kB"), 2'000);
  EXPECT_EQ(Bytes("2KB"), 2'000);
  EXPECT_EQ(Bytes("2MB"), 2'000'000);
  EXPECT_EQ(Bytes("2GB"), 2'000'000'000);
  EXPECT_EQ(Bytes("256KiB"), 262'144);
  EXPECT_EQ(Bytes("1.5MiB"), 1'572'864);
  EXPECT_EQ(Bytes("1GiB"), 1'073'741'824);
  EXPECT_EQ(Bytes("1.001kB"), 1'001);
}

TEST(ParseSizeWithUnit, SaysWhatIsWrongAndWhatIsRight) {
  for (const std::string text :
       {"", "100", "B", "-1B", "1e3B", "1 KiB", "1kib", "1Kib", "1kiB", "1TB",
        "nanB", "infB", "1BB"}) {
    EXPECT_THAT(std::string(ParseSizeWithUnit(text).status().message()),
                HasSubstr("is not a size; write it with its unit, such as "
                          "100B, 256KiB or 1MB"))
        << text;
  }
  for (const std::string text : {"0.5B", "0.1KiB", "1.0001kB"}) {
    EXPECT_THAT(std::string(ParseSizeWithUnit(text).status().message()),
                HasSubstr("is not a whole number of bytes"));
  }
  for (const std::string text : {"9007199254740994B", "99999999999GiB"}) {
    EXPECT_THAT(std::string(ParseSizeWithUnit(text).status().message()),
                HasSubstr("is too large"));
  }
}

TEST(FormatSizeWithUnit, UsesTheLargestUnitOfWhichItIsAWholeNumber) {
  EXPECT_EQ(FormatSizeWithUnit(0), "0B");
  EXPECT_EQ(FormatSizeWithUnit(100), "100B");
  EXPECT_EQ(FormatSizeWithUnit(512 << 20), "512MiB");
  EXPECT_EQ(FormatSizeWithUnit(3'000'000), "3MB");
  EXPECT_EQ(FormatSizeWithUnit(1'024'000), "1000KiB");
  EXPECT_EQ(FormatSizeWithUnit(5'000), "5kB");
}

TEST(QuantityProperty, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(1);
  const auto between = [&](int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(random);
  };
  for (int i = 0; i < 10'000; ++i) {
    // Of every magnitude.
    const int64_t ns = between(0, 9'223'372'036'854'775'807) >> between(0, 62);
    EXPECT_EQ(Nanoseconds(absl::FormatDuration(absl::Nanoseconds(ns))), ns);
    EXPECT_EQ(Nanoseconds(absl::StrCat(ns, "ns")), ns);
    const int64_t number = between(1, 1'000'000'000);
    EXPECT_EQ(PerSecond(absl::StrCat(number, "/s")), number);
    EXPECT_EQ(PerSecond(absl::StrCat(number, "k/s")), 1e3 * number);
    const int64_t bytes = between(0, int64_t{1} << 53) >> between(0, 52);
    EXPECT_EQ(Bytes(FormatSizeWithUnit(bytes)), bytes);
    const int64_t kibibytes = between(0, 1'000'000'000);
    EXPECT_EQ(Bytes(absl::StrCat(kibibytes, "KiB")), 1024 * kibibytes);
    // A number of bytes in its thousands has three decimals.
    EXPECT_EQ(
        Bytes(absl::StrFormat("%d.%03dkB", kibibytes / 1000, kibibytes % 1000)),
        kibibytes);
  }
}

TEST(QuantityProperty, AnythingIsReadOrRefused) {
  std::mt19937_64 random(2);
  constexpr char kParts[][6] = {"0", "1",   "9",    ".",  "-",   "+",   "e",
                                "M", "k",   "/min", "/s", "h",   "ms",  "s",
                                "B", "KiB", " ",    "n",  "inf", "\xff"};
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (int n = random() % 8; n > 0; --n) {
      text += kParts[random() % std::size(kParts)];
    }
    const auto duration = ParseDurationWithUnit(text);
    if (duration.ok()) {
      EXPECT_GE(*duration, absl::ZeroDuration()) << text;
      EXPECT_LT(*duration, absl::InfiniteDuration()) << text;
      EXPECT_EQ(*duration % absl::Nanoseconds(1), absl::ZeroDuration()) << text;
    }
    const auto rate = ParseRateWithUnit(text);
    EXPECT_TRUE(!rate.ok() || (*rate > 0 && std::isfinite(*rate))) << text;
    const auto size = ParseSizeWithUnit(text);
    EXPECT_TRUE(!size.ok() || *size >= 0) << text;
  }
}

}  // namespace
}  // namespace distbench::config
