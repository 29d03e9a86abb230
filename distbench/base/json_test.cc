#include "distbench/base/json.h"

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace
}  // namespace distbench::base
