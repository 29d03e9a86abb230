#include "distbench/products/external/csv_rows.h"

#include <cstddef>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::external {
namespace {

// Some editors begin UTF-8 files with a byte order mark.
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

absl::Status ErrorInLine(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, " ", what));
}

class CsvReader {
 public:
  explicit CsvReader(absl::string_view text)
      : rest_(absl::StripPrefix(text, kByteOrderMark)) {}

  absl::StatusOr<CsvRows> Read() {
    CsvRows rows;
    while (!rest_.empty()) {
      if (EndsLine()) continue;  // a line without anything is no row
      const int line = line_;
      std::vector<std::string> row;
      if (absl::Status status = ReadRow(row); !status.ok()) return status;
      if (!rows.empty() && row.size() != rows[0].size()) {
        return ErrorInLine(
            line, absl::StrCat("has ", row.size(), " cells, but the first row ",
                               "names ", rows[0].size(),
                               " columns; put cells with commas into quotes"));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  // Skips the end of a line, if that comes next.
  bool EndsLine() {
    if (!absl::ConsumePrefix(&rest_, "\r\n") &&
        !absl::ConsumePrefix(&rest_, "\n")) {
      return false;
    }
    ++line_;
    return true;
  }

  absl::Status ReadRow(std::vector<std::string>& row) {
    do {
      absl::Status status = rest_.substr(0, 1) == "\""
                                ? ReadQuoted(row.emplace_back())
                                : ReadPlain(row.emplace_back());
      if (!status.ok()) return status;
    } while (absl::ConsumePrefix(&rest_, ","));
    if (rest_.empty() || EndsLine()) return absl::OkStatus();
    return ErrorInLine(line_, "has text after the closing quote of a cell");
  }

  absl::Status ReadPlain(std::string& cell) {
    absl::string_view text = rest_.substr(0, rest_.find_first_of(",\n"));
    rest_.remove_prefix(text.size());
    // The carriage return belongs to the end of the line.
    if (rest_.substr(0, 1) != ",") absl::ConsumeSuffix(&text, "\r");
    cell = std::string(text);
    if (text.find('"') == absl::string_view::npos) return absl::OkStatus();
    return ErrorInLine(line_,
                       "has a quote inside of a cell; put the cell into "
                       "quotes and double the quote");
  }

  absl::Status ReadQuoted(std::string& cell) {
    const int first_line = line_;
    rest_.remove_prefix(1);
    for (;;) {
      const size_t quote = rest_.find('"');
      if (quote == absl::string_view::npos) {
        return ErrorInLine(first_line, "has a quote that is not closed");
      }
      for (const char byte : rest_.substr(0, quote)) line_ += byte == '\n';
      cell.append(rest_.data(), quote);
      rest_.remove_prefix(quote + 1);
      if (!absl::ConsumePrefix(&rest_, "\"")) return absl::OkStatus();
      cell += '"';
    }
  }

  absl::string_view rest_;
  int line_ = 1;
};

absl::Status CheckColumns(const CsvRows& rows) {
  if (rows.size() < 2) {
    return absl::InvalidArgumentError(
        "needs a line that names the columns, and at least one row below it");
  }
  std::set<std::string> seen;
  for (const std::string& column : rows[0]) {
    if (column.empty()) {
      return absl::InvalidArgumentError(
          "its first line has a column without a name; name every column");
    }
    if (!seen.insert(column).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two columns are called \"", column,
                       "\"; give them different names"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CsvRows> ParseCsvRows(absl::string_view text) {
  absl::StatusOr<CsvRows> rows = CsvReader(text).Read();
  if (!rows.ok()) return rows;
  absl::Status status = CheckColumns(*rows);
  if (!status.ok()) return status;
  return rows;
}

}  // namespace distbench::external
