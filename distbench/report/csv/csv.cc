// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/csv/csv.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/human_units.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "proto/report.pb.h"

namespace distbench::report {
namespace {

using ::distbench::base::Json;
using ::google::protobuf::Descriptor;
using ::google::protobuf::Message;

// Text is passed on in blocks of about this size.
constexpr size_t kPageBytes = 1 << 16;

void AppendCell(const Json& cell, std::string& line) {
  switch (cell.type()) {
    case Json::value_t::boolean:
      line += cell.get<bool>() ? '1' : '0';
      return;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      absl::StrAppend(&line, cell.get<int64_t>());
      return;
    case Json::value_t::number_float:
      line += base::NumberInFull(cell.get<double>());
      return;
    case Json::value_t::string:
      line += CsvText(cell.get_ref<const std::string&>());
      return;
    default:
      return;
  }
}

// Whether a spreadsheet would evaluate the text. Numbers and a lone sign are no
// formulas.
bool IsFormula(absl::string_view text) {
  double number = 0;
  return text.size() > 1 &&
         absl::string_view("=+-@\t\r").find(text[0]) !=
             absl::string_view::npos &&
         !absl::SimpleAtod(text, &number);
}

}  // namespace

std::string CsvText(absl::string_view text) {
  const std::string cell = absl::StrCat(IsFormula(text) ? "'" : "", text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

CsvWriter::CsvWriter(Types types, ByteSink sink) : sink_(sink) {
  for (const Descriptor* type : types) {
    for (const std::string& column : base::ColumnsOf(*type)) {
      if (!page_.empty()) page_ += ',';
      page_ += CsvText(column);
    }
  }
  page_ += '\n';
}

void CsvWriter::Add(Messages messages) {
  for (const Message* message : messages) {
    base::ForEachCell(*message, [&](const Json& cell) {
      AppendCell(cell, page_);
      page_ += ',';
    });
  }
  page_.back() = '\n';
  if (page_.size() < kPageBytes) return;
  sink_(page_);
  page_.clear();
}

void RenderCsv(absl::Span<const TestRun> runs, const ReportTable& table,
               ByteSink sink) {
  CsvWriter lines({Report::RunCells::descriptor(), &table.row(),
                   Report::OriginCell::descriptor()},
                  sink);
  for (const TestRun& run : runs) {
    Report::RunCells run_cells;
    run_cells.set_source(run.source);
    run_cells.set_test(run.name);
    run_cells.set_repetition(run.repetition);
    Report::OriginCell origin;
    origin.set_simulated(IsSimulated(*run.result));
    table.list_rows(*run.result, [&](Message& row) {
      lines.Add({&run_cells, &row, &origin});
    });
  }
}

}  // namespace distbench::report
