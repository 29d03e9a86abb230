// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/text_scanner.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(TextScannerTest, TakesWordsAndWhatIsBeforeThem) {
  TextScanner in("control:main:cpu");
  EXPECT_FALSE(in.Take("payload:"));
  EXPECT_TRUE(in.Take("control:"));
  EXPECT_EQ(in.TakeUntil(":"), "main");
  EXPECT_EQ(in.rest(), ":cpu");
  EXPECT_TRUE(in.Take(":"));
  EXPECT_EQ(in.TakeUntil(":"), "cpu");
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.TakeUntil(":"), "");
  EXPECT_FALSE(in.Take(":"));
}

struct Word {
  absl::string_view name;
};

TEST(TextScannerTest, TakesTheLongestName) {
  constexpr Word kWords[] = {{"k"}, {"kB"}, {"KiB"}};
  TextScanner in("kBk!");
  EXPECT_EQ(in.TakeOneOf(kWords), &kWords[1]);
  EXPECT_EQ(in.TakeOneOf(kWords), &kWords[0]);
  EXPECT_EQ(in.TakeOneOf(kWords), nullptr);
  EXPECT_EQ(in.rest(), "!");
}

TEST(TextScannerTest, TakesNumbersUpToTheirUnits) {
  TextScanner decimal("1.5e3");
  EXPECT_THAT(decimal.TakeDecimal(), Optional(1.5));
  EXPECT_EQ(decimal.rest(), "e3");
  TextScanner number("-1.5e3e4");
  EXPECT_THAT(number.TakeNumber(), Optional(-1500.0));
  EXPECT_EQ(number.rest(), "e4");
  TextScanner energy("2eV");
  EXPECT_THAT(energy.TakeNumber(), Optional(2.0));
  EXPECT_EQ(energy.rest(), "eV");
  TextScanner integer("-12}");
  EXPECT_THAT(integer.TakeInteger(), Optional(-12));
  EXPECT_EQ(integer.rest(), "}");
}

TEST(ParseNumbersTest, TakeAllOrNothing) {
  EXPECT_THAT(ParseWhole("007"), Optional(7));
  EXPECT_THAT(ParseWhole("9223372036854775807"),
              Optional(9'223'372'036'854'775'807));
  EXPECT_THAT(ParseWhole("8", 8), Optional(8));
  EXPECT_THAT(ParseWhole("9", 8), Eq(std::nullopt));
  EXPECT_THAT(ParseDecimal(".5"), Optional(0.5));
  EXPECT_TRUE(std::isinf(ParseDecimal(std::string(400, '9')).value_or(0)));
  EXPECT_THAT(ParseNumber("+1e-1"), Optional(0.1));
  EXPECT_THAT(ParsePercent("-3 %"), Optional(-3.0));
  for (const char* text :
       {"", " ", ".", "-", "+", "e1", "nan", "inf", "-inf", "0x10", "1 ", " 1",
        "1..5", "1_000", "1e999", "1x"}) {
    EXPECT_THAT(ParseWhole(text), Eq(std::nullopt)) << text;
    EXPECT_THAT(ParseDecimal(text), Eq(std::nullopt)) << text;
    EXPECT_THAT(ParseNumber(text), Eq(std::nullopt)) << text;
    EXPECT_THAT(ParsePercent(text), Eq(std::nullopt)) << text;
  }
  for (const char* text : {"-1", "+1", "1e3"}) {
    EXPECT_THAT(ParseWhole(text), Eq(std::nullopt)) << text;
    EXPECT_THAT(ParseDecimal(text), Eq(std::nullopt)) << text;
  }
  for (const char* text : {"%", "nan%", "inf%", "5%%", "5"}) {
    EXPECT_THAT(ParsePercent(text), Eq(std::nullopt)) << text;
  }
}

TEST(ParseComparisonTest, DividesAtTheLastSign) {
  const std::optional<Comparison> comparison =
      ParseComparison(" a<b p95 <= 5ms ");
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison->name, "a<b p95");
  EXPECT_EQ(comparison->sign, '<');
  EXPECT_EQ(comparison->limit, "= 5ms");
  EXPECT_FALSE(ParseComparison("p95=5ms").has_value());
}

TEST(SplitOwnerTest, DividesAtTheLastSeparator) {
  const OwnedName both = SplitOwner("a:b : c", ':');
  EXPECT_EQ(both.owner, "a:b");
  EXPECT_EQ(both.name, "c");
  const OwnedName alone = SplitOwner("p95", ' ');
  EXPECT_EQ(alone.owner, "");
  EXPECT_EQ(alone.name, "p95");
}

TEST(TextScannerTest, AnythingIsReadOrRefused) {
  std::mt19937_64 random(1);
  constexpr char kParts[][4] = {"0",  "9",   ".", "-", "+", "e",
                                "E1", "inf", "x", " ", "%", "\xff"};
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (size_t n = random() % 8; n > 0; --n) {
      text += kParts[random() % std::size(kParts)];
    }
    const std::optional<double> number = ParseNumber(text);
    EXPECT_TRUE(!number || std::isfinite(*number)) << text;
    // Each kind of number is one of the next kind, too.
    const std::optional<int64_t> whole = ParseWhole(text);
    const std::optional<double> decimal = ParseDecimal(text);
    EXPECT_TRUE(!whole || decimal == static_cast<double>(*whole)) << text;
    EXPECT_TRUE(!decimal || number == decimal) << text;
  }
}

}  // namespace
}  // namespace distbench::base
