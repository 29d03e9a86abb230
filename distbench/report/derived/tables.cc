// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/tables.h"

#include <algorithm>

#include "distbench/report/derived/table_rows.h"
#include "glog/logging.h"
#include "proto/json_options.pb.h"

namespace distbench::report {

const std::string& ReportTable::name() const {
  return type->options().GetExtension(table).name();
}

const std::string& ReportTable::about() const {
  return type->options().GetExtension(table).about();
}

const google::protobuf::Descriptor& ReportTable::row() const {
  return *type->FindFieldByName("rows")->message_type();
}

const std::vector<ReportTable>& AllTables() {
  static const auto& tables = *new std::vector<ReportTable>{
      {Report::RpcTable::descriptor(), ListRpcRows},
      {Report::PercentileTable::descriptor(), ListPercentiles},
      {Report::TimePartTable::descriptor(), ListTimeParts},
      {Report::StreamTable::descriptor(), ListStreams},
      {Report::PolicyTable::descriptor(), ListPolicies},
      {Report::GoodputTable::descriptor(), ListGoodput},
      {Report::FaultTable::descriptor(), ListFaults},
      {Report::RecoveryTable::descriptor(), ListRecoveries},
      {Report::PeerTable::descriptor(), ListPeers},
      {Report::SecondTable::descriptor(), ListSeconds},
      {Report::ActivityTable::descriptor(), ListActivities},
      {Report::ActivitySeriesTable::descriptor(), ListActivitySeries},
      {Report::ResourceTable::descriptor(), ListResources},
      {Report::CpuTable::descriptor(), ListCpus},
      {Report::GroupTable::descriptor(), ListGroups},
      {Report::ConnectionTable::descriptor(), ListConnections},
      {Report::SampleTable::descriptor(), ListSamples}};
  return tables;
}

const ReportTable& TableNamed(absl::string_view name) {
  const auto found = std::find_if(
      AllTables().begin(), AllTables().end(),
      [&](const ReportTable& table) { return table.name() == name; });
  CHECK(found != AllTables().end()) << name;
  return *found;
}

TableRows::TableRows(int64_t max_rows, google::protobuf::Message* table)
    : max_rows_(max_rows),
      table_(*table),
      rows_(table->GetDescriptor()->FindFieldByName("rows")) {}

TableRows::~TableRows() {
  table_.GetReflection()->SetInt64(
      &table_, table_.GetDescriptor()->FindFieldByName("rows_left_out"),
      count_ - std::min(count_, max_rows_));
}

void TableRows::Add(google::protobuf::Message& row) {
  if (count_++ >= max_rows_) return;
  google::protobuf::Message* added =
      table_.GetReflection()->AddMessage(&table_, rows_);
  added->GetReflection()->Swap(added, &row);
}

}  // namespace distbench::report
