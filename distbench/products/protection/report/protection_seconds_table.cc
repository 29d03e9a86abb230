#include <cmath>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/products/protection/measures/usage.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/products/protection/report/protection_table.h"

namespace distbench::protection {
namespace {

void AddPressure(const Pressure& pressure, report::Row& row) {
  row.push_back(report::NumberCell(pressure.cpu));
  row.push_back(report::NumberCell(pressure.memory));
  row.push_back(report::NumberCell(pressure.io));
}

void AddUsage(const WorkerUsage& usage, report::Row& row) {
  row.push_back(report::NumberCell(usage.cpus));
  row.push_back(report::NumberCell(usage.memory_bytes));
  row.push_back(report::NumberCell(usage.swap_bytes));
  AddPressure(usage.pressure, row);
}

// The rows of one run.
class RunRows {
 public:
  RunRows(const ProtectionCell& cell, const ProtectionRun& run)
      : cell_(cell),
        run_(run),
        antagonist_(CollectWork(*run.result, WorkRole::kAntagonist)),
        usage_(UsageBySecond(*run.result, run.interval_ns)) {}

  report::Row At(const ProtectionSecond& second) const {
    report::Row row = {cell_.controls,
                       cell_.antagonist,
                       cell_.load,
                       int64_t{run_.result->experiment_cell().repetition()},
                       second.start_ns,
                       report::SecondsCell(run_.interval_ns),
                       std::string(ProtectionPhaseName(second.phase)),
                       std::string(SecondStateName(second.state)),
                       second.goodput_per_second,
                       second.isolation};
    for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
      row.push_back(report::OutcomeCell(second.latency_ns[i]));
      row.push_back(report::NumberCell(second.impact[i]));
    }
    AddWork(second, row);
    const auto usage = usage_.find(second.start_ns / run_.interval_ns);
    const SecondUsage known =
        usage == usage_.end() ? SecondUsage() : usage->second;
    AddUsage(known.subject, row);
    AddUsage(known.antagonist, row);
    AddPressure(known.host_pressure, row);
    return row;
  }

 private:
  void AddWork(const ProtectionSecond& second, report::Row& row) const {
    // A wide interval of the subject may contain several of the antagonist.
    std::optional<WorkRate> rate =
        MeanRate(antagonist_, {.start_ns = second.start_ns,
                               .end_ns = second.start_ns + run_.interval_ns});
    if (!rate) rate = RateAt(antagonist_, second.start_ns);
    const WorkRate known = rate.value_or(WorkRate());
    for (const double number :
         {known.offered, known.completed, known.bytes, known.message_bytes}) {
      row.push_back(rate ? report::Cell(number) : report::Cell());
    }
  }

  const ProtectionCell& cell_;
  const ProtectionRun& run_;
  const WorkSeries antagonist_;
  const std::map<int64_t, SecondUsage> usage_;
};

std::vector<std::string> SecondColumns() {
  std::vector<std::string> columns = {
      "controls",           "antagonist", "load",  "repetition",
      "start_timestamp_ns", "duration_s", "phase", "state",
      "goodput_per_second", "isol"};
  for (const double quantile : kImpactQuantiles) {
    const std::string name = absl::StrFormat("p%.0f", 100 * quantile);
    columns.push_back(name + "_ns");
    columns.push_back("lat_imp_" + name);
  }
  for (const char* amount :
       {"offered", "completed", "bytes", "message_bytes"}) {
    columns.push_back(absl::StrCat("antagonist_", amount, "_per_second"));
  }
  for (const char* worker : {"subject", "antagonist"}) {
    for (const char* use : {"cpus", "memory_bytes", "swap_bytes",
                            "cpu_pressure", "memory_pressure", "io_pressure"}) {
      columns.push_back(absl::StrCat(worker, "_", use));
    }
  }
  for (const char* resource : {"cpu", "memory", "io"}) {
    columns.push_back(absl::StrCat("host_", resource, "_pressure"));
  }
  return columns;
}

void ListSecondRows(const ProtectionMatrix& matrix, report::RowSink sink) {
  for (const ProtectionCell& cell : matrix.cells) {
    for (const ProtectionRun& run : cell.runs) {
      if (!run.problem.empty()) continue;
      const RunRows rows(cell, run);
      for (const ProtectionSecond& second : run.seconds) sink(rows.At(second));
    }
  }
}

}  // namespace

const ProtectionTable& ProtectionSecondsTable() {
  static const ProtectionTable* const table = new ProtectionTable{
      "protection_seconds", "a row per run of a cell and second of its phases",
      SecondColumns(), ListSecondRows};
  return *table;
}

}  // namespace distbench::protection
