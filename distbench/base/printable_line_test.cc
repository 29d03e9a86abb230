// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/printable_line.h"

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(PrintableLineTest, KeepsWhatPeopleRead) {
  EXPECT_EQ(PrintableLine(""), "");
  EXPECT_EQ(
      PrintableLine("query of client/0: \"no\" \\ 'yes' é 漢 🙂 \u00a0"),
      "query of client/0: \"no\" \\ 'yes' é 漢 🙂 \u00a0");
}

TEST(PrintableLineTest, ControlCharactersAreBlanks) {
  EXPECT_EQ(PrintableLine("a\nb\r\tc\x7f"), "a b  c ");
  EXPECT_EQ(PrintableLine(absl::string_view("\0\x1b[31mred", 9)), "  [31mred");
  EXPECT_EQ(PrintableLine("\u0080\u009b2J\u009f."), "  2J .");
}

TEST(PrintableLineTest, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(PrintableLine("a\xff\xc2"), "a\ufffd\ufffd");
  EXPECT_EQ(PrintableLine("\x9b"
                          "2J"),
            "\ufffd"
            "2J");
}

}  // namespace
}  // namespace distbench::base
