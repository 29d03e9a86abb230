// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a report: which there are, and their rows.

#ifndef DISTBENCH_REPORT_DERIVED_TABLES_H_
#define DISTBENCH_REPORT_DERIVED_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "proto/report.pb.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Takes rows one at a time; they may be moved from.
using RowSink = absl::FunctionRef<void(google::protobuf::Message& row)>;

// A message of proto/report.proto that is a table. Its columns are the fields
// of its rows (base/message_json.h): names and order are a contract, and new
// ones may only be appended.
struct ReportTable {
  const google::protobuf::Descriptor* type;

  // Passes the rows of a run to the sink, all of one type.
  void (*list_rows)(const TestResult& result, RowSink sink);

  const std::string& name() const;
  const std::string& about() const;  // for users: "a row per RPC"
  const google::protobuf::Descriptor& row() const;
};

const std::vector<ReportTable>& AllTables();

// Requires that there is such a table.
const ReportTable& TableNamed(absl::string_view name);

// Takes rows into a message that is a table, up to a limit, and counts the
// others.
class TableRows {
 public:
  TableRows(int64_t max_rows, google::protobuf::Message* table);

  // Says how many are left out.
  ~TableRows();

  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;

  // Moves from the row.
  void Add(google::protobuf::Message& row);

 private:
  const int64_t max_rows_;
  google::protobuf::Message& table_;
  const google::protobuf::FieldDescriptor* const rows_;
  int64_t count_ = 0;
};

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_DERIVED_TABLES_H_
