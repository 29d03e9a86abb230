// A table of spans with a header, for traces of any other program.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/products/trace_import/spans/formats.h"

namespace distbench::trace_import {
namespace {

constexpr const char* kRequired[] = {"trace",     "span",     "service",
                                     "operation", "start_ns", "duration_ns"};
constexpr const char* kOptional[] = {
    "parent",        "kind",           "instance", "peer",
    "request_bytes", "response_bytes", "error"};

// Takes a row from `text`, by RFC 4180: cells in quotes may have commas, lines
// and doubled quotes. A quote within a cell that does not begin with one is a
// character like others: it would swallow the rows up to the next quote.
std::vector<std::string> TakeRow(absl::string_view& text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  size_t i = 0;
  for (; i < text.size() && (quoted || text[i] != '\n'); ++i) {
    const char c = text[i];
    if (c == '"' && (quoted || cells.back().empty())) {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += text[++i];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r' || quoted) {
      cells.back() += c;
    }
  }
  text.remove_prefix(i < text.size() ? i + 1 : i);
  return cells;
}

class CsvReader {
 public:
  explicit CsvReader(std::vector<std::string> header)
      : header_(std::move(header)) {}

  absl::Status CheckHeader() const {
    for (const std::string& name : header_) {
      if (!absl::c_linear_search(kRequired, name) &&
          !absl::c_linear_search(kOptional, name)) {
        return absl::InvalidArgumentError(
            absl::StrCat("line 1: there is no column \"", name,
                         "\"; docs/products/import.md lists them"));
      }
    }
    for (const char* name : kRequired) {
      if (absl::c_linear_search(header_, name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("line 1: the column \"", name, "\" is missing; add it"));
    }
    return absl::OkStatus();
  }

  void Add(const std::vector<std::string>& cells,
           SpanCollector& collector) const {
    if (cells.size() != header_.size()) {
      return collector.Note(
          "rows with more or fewer cells than the header were left out");
    }
    Span span;
    int64_t start_ns = -1;
    int64_t duration_ns = -1;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string& name = header_[i];
      const std::string& cell = cells[i];
      int64_t number;
      if (!absl::SimpleAtoi(cell, &number) || number < 0) number = -1;
      if (name == "trace") span.trace = cell;
      if (name == "span") span.id = cell;
      if (name == "parent") span.parent = cell;
      if (name == "service") span.service = cell;
      if (name == "instance") span.instance = cell;
      if (name == "operation") span.operation = cell;
      if (name == "peer") span.peer = cell;
      if (name == "kind") span.kind = SpanKindOf(cell);
      if (name == "start_ns") start_ns = number;
      if (name == "duration_ns") duration_ns = number;
      if (name == "request_bytes")
        TakeAttribute("http.request.size", cell, span);
      if (name == "response_bytes") {
        TakeAttribute("http.response.size", cell, span);
      }
      if (name == "error") {
        span.failed = cell == "1" || absl::EqualsIgnoreCase(cell, "true");
      }
    }
    collector.Add(std::move(span), start_ns, duration_ns);
  }

 private:
  const std::vector<std::string> header_;
};

}  // namespace

absl::Status ReadCsv(absl::string_view text, SpanCollector& collector) {
  // Spreadsheets begin with a mark of UTF-8.
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  const CsvReader reader(TakeRow(text));
  if (absl::Status status = reader.CheckHeader(); !status.ok()) return status;
  while (!text.empty()) {
    const std::vector<std::string> cells = TakeRow(text);
    if (cells.size() > 1 || !cells[0].empty()) reader.Add(cells, collector);
  }
  return absl::OkStatus();
}

}  // namespace distbench::trace_import
