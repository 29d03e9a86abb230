#include "distbench/report/json/json.h"

#include <google/protobuf/text_format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"
#include "distbench/base/version.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/tables/table.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

// Tables that are no keys of their own: the first two are in "rpcs", "seconds"
// is listed with it, and samples are only for programs that read CSV.
bool IsListedElsewhere(const ReportTable& table) {
  return &table == &RpcsTable() || &table == &PercentilesTable() ||
         &table == &SecondsTable() || &table == &SamplesTable();
}

void AddTables(const TestResult& result, const JsonLimits& limits, Json& json) {
  for (const ReportTable* table : AllTables()) {
    if (IsListedElsewhere(*table)) continue;
    const std::string name(table->name);
    const auto limit = limits.max_rows.find(name);
    json[name] = RowsJson(
        table->columns, [&](RowSink sink) { table->list_rows(result, sink); },
        limit == limits.max_rows.end() ? std::numeric_limits<int64_t>::max()
                                       : limit->second);
  }
}

// As text, because not all readers support 64-bit numbers.
Json SeedJson(const RunInfo& run_info) {
  if (!run_info.has_random_seed()) return nullptr;
  return absl::StrCat(run_info.random_seed());
}

Json RunJson(const RunInfo& run_info) {
  return {{"version", base::TextOrNull(run_info.version())},
          {"revision", base::TextOrNull(run_info.revision())},
          {"random_seed", SeedJson(run_info)},
          {"config_hash", base::TextOrNull(run_info.config_hash())},
          {"start_timestamp_ns", base::OrNull(run_info.has_start_timestamp_ns(),
                                              run_info.start_timestamp_ns())},
          {"end_timestamp_ns", base::OrNull(run_info.has_end_timestamp_ns(),
                                            run_info.end_timestamp_ns())}};
}

Json FindingsJson(const TestResult& result, const TestTotals& totals) {
  Json json = Json::array();
  for (const Finding& finding : FindingsOf(result, totals)) {
    json.push_back({{"severity", SeverityName(finding.severity())},
                    {"code", finding.code()},
                    {"message", finding.message()},
                    {"advice", base::TextOrNull(finding.advice())}});
  }
  return json;
}

Json TotalsJson(const TestTotals& totals) {
  const results::RpcCounts& all = totals.all;
  return {{"succeeded_count", all.succeeded_count},
          {"failed_count", all.failed_count},
          {"warmup_count", all.warmup_count},
          {"request_bytes", all.request_bytes},
          {"response_bytes", all.response_bytes},
          {"duration_ns", totals.duration_ns}};
}

Json StoppedInstancesJson(const TestResult& result) {
  Json json = Json::array();
  for (const auto* instance :
       results::Sorted(result.service_logs().instance_logs())) {
    if (!instance->second.has_engine_error_message()) continue;
    json.push_back({{"instance", instance->first},
                    {"message", instance->second.engine_error_message()}});
  }
  return json;
}

// Returns the object with the keys of products between its own.
template <typename Key, typename Input>
Json WithParts(Json own, const Input& input, const JsonLimits& limits) {
  std::vector<std::string> names;
  for (const auto& [name, value] : own.items()) names.push_back(name);
  Json all = Json::object();
  for (const Placed<Key>& placed : InOrder<Key>(names)) {
    all[placed.name] = placed.part == nullptr
                           ? std::move(own[placed.name])
                           : placed.part->value_of(input, limits);
  }
  return all;
}

std::string ConfigText(const DistributedSystemDescription& config) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(config, &text);
  return text;
}

// Adds the RPCs, and a table of their series.
void AddRpcs(const TestResult& result, const TestTotals& totals,
             const JsonLimits& limits, Json& json) {
  Json rpcs = Json::array();
  Json seconds = RowsJson(SecondsTable().columns, [](RowSink) {});
  for (const int rpc_index : ListRpcs(result)) {
    const RpcMeasurements rpc =
        MeasurementsOf(result, totals, rpc_index, limits.max_intervals);
    rpcs.push_back(RpcJson(rpc));
    ListSeriesRows(rpc.name, rpc.series, [&](const Row& row) {
      seconds["rows"].push_back(RowJson(row));
    });
  }
  json["rpcs"] = std::move(rpcs);
  json["seconds"] = std::move(seconds);
}

Json TestJson(const TestRun& run, const JsonLimits& limits) {
  const TestResult& result = *run.result;
  const TestTotals totals = AddUp(result);
  const RunInfo& run_info = result.run_info();
  Json json = {
      {"source", run.source},
      {"name", run.name},
      {"repetition", run.repetition},
      {"simulated", IsSimulated(result)},
      {"verdict", totals.invalid_log_count > 0 && !run_info.has_failure()
                      ? "invalid"
                      : RunVerdict(result)},
      {"failure", base::OrNull(run_info.has_failure(), run_info.failure())},
      {"findings", FindingsJson(result, totals)},
      {"objectives", ObjectivesJson(result)},
      {"run", RunJson(run_info)},
      {"totals", TotalsJson(totals)}};
  AddRpcs(result, totals, limits, json);
  json["topology"] =
      TopologyJson(FindTopology(result), limits.max_instance_rows);
  AddTables(result, limits, json);
  json["nodes"] = NodesJson(result);
  json["placement"] = PlacementJson(result);
  json["bindings"] = BindingsJson(result);
  json["network_settings"] = NetworkSettingsJson(result);
  json["server_faults"] = ServerFaultsJson(result);
  json["admission"] = AdmissionJson(result);
  json["stopped_instances"] = StoppedInstancesJson(result);
  const auto& attributes = result.traffic_config().attributes();
  json["attributes"] =
      std::map<std::string, std::string>(attributes.begin(), attributes.end());
  json["traffic_config"] = ConfigText(result.traffic_config());
  return WithParts<TestKey>(std::move(json), result, limits);
}

}  // namespace

Json CellJson(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

Json RowJson(const Row& row) {
  Json json = Json::array();
  for (const Cell& cell : row) json.push_back(CellJson(cell));
  return json;
}

Json RowsJson(const std::vector<std::string>& columns,
              absl::FunctionRef<void(RowSink)> list_rows, int64_t max_rows) {
  Json rows = Json::array();
  int64_t left_out = 0;
  list_rows([&](const Row& row) {
    if (static_cast<int64_t>(rows.size()) < max_rows) {
      rows.push_back(RowJson(row));
    } else {
      ++left_out;
    }
  });
  return {{"columns", columns},
          {"rows", std::move(rows)},
          {"rows_left_out", left_out}};
}

std::string RenderJson(const ReportInput& input, const JsonLimits& limits) {
  Json document = {{"schema", "distbench report"},
                   {"schema_version", kJsonSchemaVersion},
                   {"distbench_version", std::string(base::ProgramVersion())},
                   {"confidence", kReportConfidence}};
  Json& tests = document["tests"] = Json::array();
  for (const TestRun& run : input.runs) tests.push_back(TestJson(run, limits));
  document = WithParts<DocumentKey>(std::move(document), input, limits);
  return base::DumpJson(document) + '\n';
}

}  // namespace distbench::report
