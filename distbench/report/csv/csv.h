// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Renders rows of tables as comma-separated values.

#ifndef DISTBENCH_REPORT_CSV_CSV_H_
#define DISTBENCH_REPORT_CSV_CSV_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/report_format.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::report {

// Renders the header, then the rows of all runs. The columns source, test and
// repetition precede those of the table, and simulated follows them. Memory use
// does not grow with the number of rows.
void RenderCsv(absl::Span<const TestRun> runs, const ReportTable& table,
               ByteSink sink);

// The `write` of a product's CsvTable whose rows are those of all runs.
template <const ReportTable& table>
absl::Status WriteTableOfRuns(const ReportInput& input,
                              const ReportFlagValues& /*flags*/,
                              ByteSink sink) {
  RenderCsv(input.runs, table, sink);
  return absl::OkStatus();
}

// Lines as in RFC 4180, except that they end with a line feed. A line has the
// cells of one or several messages (base/message_json.h), one after the other;
// truth values are 1 and 0.
class CsvWriter {
 public:
  using Types = std::initializer_list<const google::protobuf::Descriptor*>;
  using Messages = std::initializer_list<const google::protobuf::Message*>;

  // Begins with the names of the columns.
  CsvWriter(Types types, ByteSink sink);

  // Passes on the rest.
  ~CsvWriter() { sink_(page_); }

  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  // Of the types given.
  void Add(Messages messages);

 private:
  ByteSink sink_;
  std::string page_;
};

// The text as a cell, quoted if necessary. Text that a spreadsheet would take
// for a formula gets an apostrophe in front, as it does when one is typed
// there: names and errors may come from others.
std::string CsvText(absl::string_view text);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_CSV_CSV_H_
