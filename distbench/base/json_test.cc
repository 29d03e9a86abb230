// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/json.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(JsonTest, WritesNullForWhatIsNotKnown) {
  EXPECT_EQ(DumpJson(Json{{"z", OrNull(std::optional<int64_t>(3))},
                          {"a", OrNull(std::optional<double>())},
                          {"b", OrNull(true, "known")},
                          {"c", OrNull(false, 7)},
                          {"d", TextOrNull("")},
                          {"e", TextOrNull("text")}}),
            R"({"z":3,"a":null,"b":"known","c":null,"d":null,"e":"text"})");
}

TEST(JsonTest, WritesLinesIfAsked) {
  EXPECT_EQ(DumpJson(nlohmann::json{{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

TEST(JsonTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(DumpJson(Json("a\xff")), "\"a\uFFFD\"");
  EXPECT_EQ(ValidUtf8("a\xff \"b\"\n"), "a\uFFFD \"b\"\n");
  EXPECT_EQ(ValidUtf8("größer"), "größer");
}

TEST(JsonTest, KnowsUtf8) {
  const std::string zero("a\0b", 3);
  for (const std::string& text : {std::string(), zero, std::string("größer"),
                                  std::string("\xf4\x8f\xbf\xbf")}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
    EXPECT_EQ(ValidUtf8(text), text);
  }
  // Cut off, overlong, a surrogate, and beyond the last code point.
  for (const char* text :
       {"a\xc3", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

// The least and the greatest character of each length, beside what is next to
// them.
TEST(JsonTest, KnowsTheEndsOfRangesOfUtf8) {
  for (const std::string text :
       {"\x01", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << absl::CHexEscape(text);
    EXPECT_EQ(Utf8PrefixLength(text + text + "\xff"), 2 * text.size())
        << absl::CHexEscape(text);
  }
  for (const std::string text :
       {"\xc1\xbf",          // overlong, of two bytes,
        "\xe0\x9f\xbf",      // three
        "\xf0\x8f\xbf\xbf",  // and four
        "\xed\xa0\x80",      // the first surrogate
        "\xed\xbf\xbf",      // and the last
        "\xf4\x90\x80\x80",  // U+110000
        "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe", "\xff", "\xc3",
        "\xc3(", "\xe2\x82", "\xe2\x82(", "\xe2(\xac", "\xf0\x9f\x98",
        "\xf0\x9f\x98(", "\xbf"}) {
    EXPECT_EQ(Utf8PrefixLength("ö" + text), 2) << absl::CHexEscape(text);
  }
}

// Sequences of bytes at the ends of all ranges.
TEST(JsonTest, AgreesWithTheLibraryAboutUtf8) {
  const auto library_takes = [](const std::string& text) {
    try {
      static_cast<void>(Json(text).dump());
      return true;
    } catch (const Json::exception&) {
      return false;
    }
  };
  const unsigned char kBytes[] = {
      0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
      0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  std::string text;
  for (const unsigned char a : kBytes) {
    for (const unsigned char b : kBytes) {
      for (const unsigned char c : kBytes) {
        for (const unsigned char d : kBytes) {
          text = {static_cast<char>(a), static_cast<char>(b),
                  static_cast<char>(c), static_cast<char>(d)};
          ASSERT_EQ(IsUtf8(text), library_takes(text))
              << absl::CHexEscape(text);
        }
      }
    }
  }
}

}  // namespace
}  // namespace distbench::base
