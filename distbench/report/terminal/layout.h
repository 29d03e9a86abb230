// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Text on a terminal: colours, paragraphs and tables that fit its width.

#ifndef DISTBENCH_REPORT_TERMINAL_LAYOUT_H_
#define DISTBENCH_REPORT_TERMINAL_LAYOUT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace distbench::report {

enum class Color { kNone, kGood, kWarning, kBad, kFaint };

struct ColoredText {
  std::string text;
  Color color = Color::kNone;
};

struct PageStyle {
  int columns = 80;  // the width, in characters
  bool has_color = false;
};

// A page on which tables are never broken into paragraphs.
inline constexpr PageStyle kUnbroken = {.columns = 1'000'000};

// Returns the text in its colour, for terminals that have colours.
std::string Paint(const ColoredText& text, const PageStyle& style);

// Returns the label, then the text beside it in lines that fit, with a line
// end. The text is `indent` characters from the left, as are the lines that
// follow the first. Words that do not fit into a line are not divided.
std::string Paragraph(const ColoredText& label, absl::string_view text,
                      int indent, const PageStyle& style);

// Rows of equally many cells. The first cell of a row is its name, the others
// are figures; an empty cell has none.
struct PageTable {
  std::vector<std::string> titles;
  std::vector<std::vector<ColoredText>> rows;
};

// Returns the table in aligned columns, or each row as a paragraph if it is
// wider than the page. Begins each line with two blanks.
std::string RenderTable(const PageTable& table, const PageStyle& style);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_LAYOUT_H_
