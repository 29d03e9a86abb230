// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/layout.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace distbench::report {
namespace {

constexpr absl::string_view kMargin = "  ";
constexpr absl::string_view kGap = "  ";
constexpr absl::string_view kNoFigure = "-";
constexpr int kIndentOfFigures = 4;

absl::string_view EscapeSequence(Color color) {
  switch (color) {
    case Color::kNone:
      return "";
    case Color::kGood:
      return "\x1b[32m";
    case Color::kWarning:
      return "\x1b[33m";
    case Color::kBad:
      return "\x1b[1;31m";
    case Color::kFaint:
      return "\x1b[2m";
  }
  return "";
}

// The number of characters of a UTF-8 text; it may be wrong for wide ones.
size_t WidthOf(absl::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

std::vector<size_t> WidthsOf(const PageTable& table) {
  std::vector<size_t> widths;
  for (const std::string& title : table.titles) {
    widths.push_back(WidthOf(title));
  }
  for (const std::vector<ColoredText>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max({widths[i], WidthOf(row[i].text), kNoFigure.size()});
    }
  }
  return widths;
}

// Names are aligned on the left, figures on the right.
std::string Line(const std::vector<ColoredText>& cells,
                 const std::vector<size_t>& widths, const PageStyle& style) {
  std::string line(kMargin);
  for (size_t i = 0; i < cells.size(); ++i) {
    ColoredText cell = cells[i];
    if (cell.text.empty()) cell.text = std::string(kNoFigure);
    const std::string padding(widths[i] - WidthOf(cell.text), ' ');
    absl::StrAppend(&line, i == 0 ? "" : absl::StrCat(kGap, padding),
                    Paint(cell, style), i == 0 ? padding : "");
  }
  return line + '\n';
}

std::string AlignedTable(const PageTable& table,
                         const std::vector<size_t>& widths,
                         const PageStyle& style) {
  std::vector<ColoredText> titles;
  for (const std::string& title : table.titles) {
    titles.push_back({title, Color::kFaint});
  }
  std::string text = Line(titles, widths, style);
  for (const auto& row : table.rows) text += Line(row, widths, style);
  return text;
}

std::string RowParagraphs(const PageTable& table, const PageStyle& style) {
  std::string text;
  for (const std::vector<ColoredText>& row : table.rows) {
    absl::StrAppend(&text, kMargin, Paint(row[0], style), "\n");
    std::vector<std::string> figures;
    for (size_t i = 1; i < row.size(); ++i) {
      if (row[i].text.empty()) continue;
      figures.push_back(absl::StrCat(table.titles[i], " ", row[i].text));
    }
    text +=
        Paragraph({}, absl::StrJoin(figures, ", "), kIndentOfFigures, style);
  }
  return text;
}

bool IsUnit(absl::string_view word) {
  constexpr absl::string_view kUnits[] = {"%",   "ns",  "us", "ms",  "s",
                                          "k/s", "M/s", "B",  "KiB", "MiB",
                                          "GiB", "TiB", "pp"};
  word = word.substr(0, word.find_last_not_of(",;.:)") + 1);
  return absl::c_linear_search(kUnits, word);
}

// The words of a text. A number and its unit are one.
std::vector<absl::string_view> WordsOf(absl::string_view text) {
  std::vector<absl::string_view> words;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const bool is_after_number =
        !words.empty() && absl::ascii_isdigit(words.back().back());
    if (is_after_number && IsUnit(word)) {
      const char* begin = words.back().data();
      words.back() =
          absl::string_view(begin, word.data() + word.size() - begin);
    } else {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace

std::string Paint(const ColoredText& text, const PageStyle& style) {
  if (!style.has_color || text.color == Color::kNone) return text.text;
  return absl::StrCat(EscapeSequence(text.color), text.text, "\x1b[0m");
}

std::string Paragraph(const ColoredText& label, absl::string_view text,
                      int indent, const PageStyle& style) {
  const size_t start = indent;
  const size_t width = std::max(style.columns, 0);
  std::string paragraph = Paint(label, style);
  size_t column = WidthOf(label.text);
  for (const absl::string_view word : WordsOf(text)) {
    if (column <= start) {
      paragraph.append(start - column, ' ');
      column = start;
    } else if (column + 1 + WidthOf(word) > width) {
      absl::StrAppend(&paragraph, "\n", std::string(start, ' '));
      column = start;
    } else {
      paragraph += ' ';
      ++column;
    }
    absl::StrAppend(&paragraph, word);
    column += WidthOf(word);
  }
  return paragraph + '\n';
}

std::string RenderTable(const PageTable& table, const PageStyle& style) {
  const std::vector<size_t> widths = WidthsOf(table);
  size_t width = kMargin.size();
  for (const size_t column : widths) width += column + kGap.size();
  width -= kGap.size();
  return width <= static_cast<size_t>(std::max(style.columns, 0))
             ? AlignedTable(table, widths, style)
             : RowParagraphs(table, style);
}

}  // namespace distbench::report
