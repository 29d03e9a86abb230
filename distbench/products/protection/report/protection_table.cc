// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/protection_table.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/message_json.h"
#include "distbench/base/time_units.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/resources.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/figures.h"
#include "distbench/results/run_failure.h"
#include "distbench/stats/outcomes.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::protection {
namespace {

using CellRow = ReportedExperiment::CellTable::Row;
using SecondRow = ReportedExperiment::SecondTable::Row;
using ::google::protobuf::Message;

// Sets a field by its name; nothing of no number, and of an infinite one, which
// stands for a failure.
void SetNumber(const std::optional<double>& number, const std::string& name,
               Message& message) {
  if (!number || std::isinf(*number)) return;
  message.GetReflection()->SetDouble(
      &message, message.GetDescriptor()->FindFieldByName(name), *number);
}

void SetEstimate(const std::optional<Estimate>& estimate,
                 const std::string& name, CellRow& row) {
  if (!estimate) return;
  SetNumber(estimate->value, name, row);
  if (!estimate->interval) return;
  SetNumber(estimate->interval->lower, name + "_lower", row);
  SetNumber(estimate->interval->upper, name + "_upper", row);
}

void SetDistribution(const ValueDistribution& values,
                     ReportedExperiment::Distribution& shown) {
  for (const DistributionColumn& column : kDistributionColumns) {
    if (values.count() == 0) break;
    SetNumber(values.AtQuantile(column.quantile), std::string(column.name),
              shown);
  }
  SetNumber(values.mean(), "mean", shown);
  SetNumber(values.deviation(), "stdev", shown);
}

void SetRates(const std::optional<WorkRate>& rate,
              ReportedExperiment::Rates& shown) {
  if (!rate) return;
  shown.set_offered_per_second(rate->offered);
  shown.set_completed_per_second(rate->completed);
  shown.set_bytes_per_second(rate->bytes);
  shown.set_message_bytes_per_second(rate->message_bytes);
}

void SetConservation(const ProtectionCell& cell, CellRow& row) {
  if (const auto* main = MainConservation(cell.conservation)) {
    SetNumber(main->share, "work_csv", row);
    row.set_work_csv_resource(std::string(WorkResourceName(main->resource)));
  }
  for (const WorkConservation& work : cell.conservation) {
    SetNumber(work.share,
              absl::StrCat("work_csv_", WorkResourceName(work.resource)), row);
  }
}

// "p50" and so on.
std::string NameOf(size_t impact) {
  return absl::StrFormat("p%.0f", 100 * kImpactQuantiles[impact]);
}

void SetImpacts(const ProtectionCell& cell, CellRow& row) {
  ReportedExperiment::Distribution* const shown[] = {row.mutable_lat_imp_p50(),
                                                     row.mutable_lat_imp_p95(),
                                                     row.mutable_lat_imp_p99()};
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    const ValueDistribution& impact = cell.impact[i];
    SetDistribution(impact, *shown[i]);
    SetNumber(
        report::FailedAbovePercent(impact.count(), impact.infinite_count()),
        absl::StrCat("lat_imp_", NameOf(i), "_failed_above_percent"), row);
  }
}

CellRow RowOf(const ProtectionCell& cell) {
  CellRow row;
  row.set_controls(cell.controls);
  row.set_antagonist(cell.antagonist);
  row.set_load(cell.load);
  if (cell.load_per_second > 0) row.set_load_per_second(cell.load_per_second);
  row.set_runs(static_cast<int64_t>(cell.runs.size()));
  row.set_measured_runs(static_cast<int64_t>(MeasuredRunCount(cell)));
  row.set_seconds(static_cast<int64_t>(cell.isolation.count()));
  SetEstimate(cell.mean_isolation, "mean_isol", row);
  SetEstimate(cell.p05_isolation, "p05_isol", row);
  SetEstimate(cell.mean_impact, "mean_lat_imp", row);
  SetNumber(cell.isolation_against_none, "isol_against_none", row);
  report::SetFigure(MedianRecovery(cell), "recovered_after_s",
                    "recovered_after_failed", row);
  row.set_missing(cell.missing_share);
  row.set_failed(cell.failed_share);
  SetConservation(cell, row);
  SetRates(cell.work.beside, *row.mutable_antagonist_work());
  SetRates(cell.work.alone, *row.mutable_antagonist_alone());
  SetDistribution(cell.isolation, *row.mutable_isol());
  SetImpacts(cell, row);
  return row;
}

}  // namespace

void ListCells(const ProtectionMatrix& matrix, report::RowSink sink) {
  for (const ProtectionCell& cell : matrix.cells) {
    CellRow row = RowOf(cell);
    sink(row);
  }
}

void RenderProtectionCsv(absl::Span<const report::TestRun> runs,
                         const google::protobuf::Descriptor& row,
                         void (*list_rows)(const ProtectionMatrix& matrix,
                                           report::RowSink sink),
                         report::ByteSink sink) {
  report::CsvWriter lines({ReportedExperiment::SourceCells::descriptor(), &row},
                          sink);
  for (const ProtectionMatrix& matrix : MeasureExperiments(runs)) {
    ReportedExperiment::SourceCells source;
    source.set_source(matrix.source);
    source.set_test(matrix.report->test_name());
    list_rows(matrix, [&](const Message& cells) {
      lines.Add({&source, &cells});
    });
  }
}

// ---- Seconds ----------------------------------------------------------------

namespace {

void SetPressure(const Pressure& pressure,
                 ReportedExperiment::PressureShares& shown) {
  SetNumber(pressure.cpu, "cpu_pressure", shown);
  SetNumber(pressure.memory, "memory_pressure", shown);
  SetNumber(pressure.io, "io_pressure", shown);
}

void SetUse(const WorkerUsage& usage, ReportedExperiment::WorkerUse& shown) {
  SetNumber(usage.cpus, "cpus", shown);
  SetNumber(usage.memory_bytes, "memory_bytes", shown);
  SetNumber(usage.swap_bytes, "swap_bytes", shown);
  SetPressure(usage.pressure, *shown.mutable_pressure());
}

// Sets p50_ns and the like, of a second or of a baseline.
void SetPercentiles(const std::array<int64_t, kImpactQuantiles.size()>& ns,
                    Message& shown) {
  const auto& type = *shown.GetDescriptor();
  std::optional<double> failed_above;
  for (size_t i = 0; i < ns.size(); ++i) {
    if (ns[i] != stats::Outcomes::kFailed) {
      shown.GetReflection()->SetInt64(
          &shown, type.FindFieldByName(NameOf(i) + "_ns"), ns[i]);
    } else if (!failed_above) {
      failed_above = 100 * kImpactQuantiles[i];
    }
  }
  SetNumber(failed_above, "failed_above_percent", shown);
}

// The rows of one run.
class RunRows {
 public:
  RunRows(const ProtectionCell& cell, const ProtectionRun& run)
      : cell_(cell),
        run_(run),
        antagonist_(CollectWork(*run.result, WorkRole::kAntagonist)),
        usage_(UsageBySecond(*run.result, run.interval_ns)) {}

  SecondRow At(const ProtectionSecond& second) const {
    SecondRow row;
    row.set_controls(cell_.controls);
    row.set_antagonist(cell_.antagonist);
    row.set_load(cell_.load);
    row.set_repetition(run_.result->experiment_cell().repetition());
    row.set_start_timestamp_ns(second.start_ns);
    row.set_duration_s(base::ToSeconds(run_.interval_ns));
    row.set_phase(std::string(ProtectionPhaseName(second.phase)));
    row.set_state(std::string(SecondStateName(second.state)));
    row.set_goodput_per_second(second.goodput_per_second);
    row.set_isol(second.isolation);
    SetPercentiles(second.latency_ns, row);
    for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
      SetNumber(second.impact[i], "lat_imp_" + NameOf(i), row);
    }
    SetRates(RateIn(second), *row.mutable_antagonist_work());
    const auto usage = usage_.find(second.start_ns / run_.interval_ns);
    if (usage != usage_.end()) {
      SetUse(usage->second.subject, *row.mutable_subject());
      SetUse(usage->second.antagonist, *row.mutable_antagonist_use());
      SetPressure(usage->second.host_pressure, *row.mutable_host());
    }
    return row;
  }

 private:
  // A wide interval of the subject may contain several of the antagonist.
  std::optional<WorkRate> RateIn(const ProtectionSecond& second) const {
    const std::optional<WorkRate> rate =
        MeanRate(antagonist_, {.start_ns = second.start_ns,
                               .end_ns = second.start_ns + run_.interval_ns});
    return rate ? rate : RateAt(antagonist_, second.start_ns);
  }

  const ProtectionCell& cell_;
  const ProtectionRun& run_;
  const WorkSeries antagonist_;
  const std::map<int64_t, SecondUsage> usage_;
};

}  // namespace

void ListSeconds(const ProtectionMatrix& matrix, report::RowSink sink) {
  for (const ProtectionCell& cell : matrix.cells) {
    for (const ProtectionRun& run : cell.runs) {
      if (!run.problem.empty()) continue;
      const RunRows rows(cell, run);
      for (const ProtectionSecond& second : run.seconds) {
        SecondRow row = rows.At(second);
        sink(row);
      }
    }
  }
}

// ---- Experiments ------------------------------------------------------------

namespace {

void SetBaseline(const ProtectionRun& run,
                 ReportedExperiment::Baseline& baseline) {
  baseline.set_goodput_per_second(run.baseline_per_second);
  SetPercentiles(run.baseline_ns, baseline);
  baseline.set_seconds(run.baseline.second_count);
  baseline.set_silent_seconds(run.baseline.silent_count);
  baseline.set_served(run.baseline.served_share);
}

template <typename Texts>
void AddTexts(const std::vector<std::string>& texts, Texts* into) {
  into->Assign(texts.begin(), texts.end());
}

void ReportRun(const ProtectionRun& run,
               absl::Span<const report::TestRun> tests,
               ReportedExperiment::CellRun& shown) {
  const ExperimentCell& cell = run.result->experiment_cell();
  report::CopyByName(cell, shown);
  report::CopyByName(cell, *shown.mutable_phases());
  if (cell.stability().empty()) shown.clear_stability();
  for (size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].result == run.result) shown.set_test(static_cast<int64_t>(i));
  }
  if (!run.problem.empty()) shown.set_problem(run.problem);
  AddTexts(NotesOf(run), shown.mutable_notes());
  if (const auto failure = results::FailureOf(*run.result)) {
    shown.set_failure(*failure);
  }
  shown.set_antagonist_lost(run.antagonist_lost);
  shown.set_latency(run.has_response_times ? "response_time" : "service_time");
  shown.set_interval_s(base::ToSeconds(run.interval_ns));
  shown.set_series_left_out(run.left_out_count);
  if (run.problem.empty()) SetBaseline(run, *shown.mutable_baseline());
  SetNumber(run.recovered_after_s, "recovered_after_s", shown);
  shown.set_recovery_s(run.recovery_s);
}

void ReportWork(const WorkConservation& work, ReportedExperiment::Work& shown) {
  shown.set_resource(std::string(WorkResourceName(work.resource)));
  SetNumber(work.share, "work_csv", shown);
  if (!work.reason.empty()) shown.set_reason(work.reason);
  shown.set_together_per_second(work.together);
  shown.set_possible_per_second(work.possible);
  shown.set_subject_alone_per_second(work.subject_alone);
  shown.set_antagonist_alone_per_second(work.antagonist_alone);
}

void ReportOverSeconds(const ValueDistribution& values,
                       ReportedExperiment::OverSeconds& shown) {
  SetNumber(values.mean(), "mean_ns", shown);
  SetNumber(values.deviation(), "stdev_ns", shown);
  shown.set_max_ns(values.AtQuantile(1));
}

void ReportNested(const NestedLatencies& latencies,
                  ReportedExperiment::NestedLatency& shown) {
  shown.set_seconds(static_cast<int64_t>(latencies.p50.count()));
  ReportOverSeconds(latencies.p50, *shown.mutable_p50());
  ReportOverSeconds(latencies.p90, *shown.mutable_p90());
  ReportOverSeconds(latencies.p99, *shown.mutable_p99());
  ReportOverSeconds(latencies.max, *shown.mutable_max());
}

void ReportFiles(const FileLatencies& files, ReportedExperiment::Files& shown) {
  if (files.reads.p50.count() > 0) {
    ReportNested(files.reads, *shown.mutable_reads());
  }
  if (files.writes.p50.count() > 0) {
    ReportNested(files.writes, *shown.mutable_writes());
  }
}

void ReportCell(const ProtectionCell& cell,
                absl::Span<const report::TestRun> tests,
                ReportedExperiment::Cell& shown) {
  *shown.mutable_row() = RowOf(cell);
  shown.set_lat_imp_failed_seconds(
      static_cast<int64_t>(cell.impact[kMainImpact].infinite_count()));
  for (const WorkConservation& work : cell.conservation) {
    ReportWork(work, *shown.add_work());
  }
  ReportFiles(cell.subject_files, *shown.mutable_subject_files());
  ReportFiles(cell.antagonist_files, *shown.mutable_antagonist_files());
  AddTexts(NotesOf(cell), shown.mutable_notes());
  for (const ProtectionRun& run : cell.runs) {
    ReportRun(run, tests, *shown.add_by_run());
  }
}

ReportedExperiment ReportExperiment(const ProtectionMatrix& matrix,
                                    absl::Span<const report::TestRun> tests,
                                    int64_t max_rows) {
  const ExperimentReport& report = *matrix.report;
  const std::string& objective = report.experiment().subject().objective();
  ReportedExperiment shown;
  report::CopyByName(report, shown);
  shown.set_source(matrix.source);
  shown.set_rpc(matrix.subject.rpc);
  if (!objective.empty()) shown.set_objective(objective);
  shown.set_is_capacity_least(matrix.is_capacity_least);
  if (report.has_random_seed()) {
    shown.set_random_seed(absl::StrCat(report.random_seed()));
  }
  if (!matrix.problem.empty()) shown.set_problem(matrix.problem);
  AddTexts(NotesOf(matrix), shown.mutable_notes());
  for (const ProtectionCell& cell : matrix.cells) {
    ReportCell(cell, tests, *shown.add_cells());
  }
  report::TableRows rows(max_rows, shown.mutable_seconds());
  ListSeconds(matrix, [&](Message& row) { rows.Add(row); });
  return shown;
}

}  // namespace

base::Json ExperimentsJson(const report::ReportInput& input,
                           const report::JsonLimits& limits) {
  base::Json json = base::Json::array();
  for (const ProtectionMatrix& matrix : MeasureExperiments(input.runs)) {
    json.push_back(base::MessageJson(
        ReportExperiment(matrix, input.runs, limits.max_part_rows)));
  }
  return json;
}

}  // namespace distbench::protection
