// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/kinds/values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/time_units.h"
#include "distbench/products/bench/jobs/job_spec.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/resumption.h"
#include "distbench/products/search/search_report.h"

namespace distbench::bench {
namespace {

const BenchValue* Find(const BenchValues& values, absl::string_view name) {
  for (const BenchValue& value : values) {
    if (value.name() == name) return &value;
  }
  return nullptr;
}

std::string ValueText(const BenchValue& value) {
  if (value.has_text()) {
    return value.text().find(' ') == std::string::npos
               ? value.text()
               : absl::StrCat("\"", value.text(), "\"");
  }
  if (value.unit() == kBytes) return base::ShortBytes(value.number());
  return absl::StrFormat("%.10g%s", value.number(), value.unit());
}

}  // namespace

void AddNumber(absl::string_view name, double number, BenchValues& values,
               absl::string_view unit) {
  BenchValue& value = *values.Add();
  value.set_name(std::string(name));
  value.set_number(number);
  if (!unit.empty()) value.set_unit(std::string(unit));
}

void AddText(absl::string_view name, absl::string_view text,
             BenchValues& values) {
  BenchValue& value = *values.Add();
  value.set_name(std::string(name));
  value.set_text(std::string(text));
}

void RemoveValue(absl::string_view name, BenchValues& values) {
  values.erase(
      std::remove_if(values.begin(), values.end(),
                     [&](const auto& value) { return value.name() == name; }),
      values.end());
}

std::optional<double> FindNumber(const BenchValues& values,
                                 absl::string_view name) {
  const BenchValue* value = Find(values, name);
  if (value == nullptr || !value->has_number()) return std::nullopt;
  return value->number();
}

std::string FindText(const BenchValues& values, absl::string_view name) {
  const BenchValue* value = Find(values, name);
  return value == nullptr ? "" : value->text();
}

const BenchJob* NearestOf(absl::string_view kind,
                          absl::Span<const BenchJob* const> earlier) {
  for (const BenchJob* job : earlier) {
    if (job->kind() == kind && job->state() == BenchJob::DONE) return job;
  }
  return nullptr;
}

void AddTaken(const BenchJob& from, const BenchValue& value,
              BenchValues& parameters) {
  BenchValue& taken = *parameters.Add();
  taken = value;
  taken.set_source(JobTitle(from.kind(), from.id()));
}

std::string ValuesText(const BenchValues& values) {
  std::vector<std::string> texts;
  for (const BenchValue& value : values) {
    texts.push_back(absl::StrCat(value.name(), "=", ValueText(value)));
  }
  return absl::StrJoin(texts, " ");
}

namespace {

int64_t WholeOrZero(const BenchValues& values, const char* name) {
  return std::llround(FindNumber(values, name).value_or(0));
}

}  // namespace

void AddIoCost(const IoCostSettings& settings, BenchValues& values) {
  const IoCostModel& model = settings.model();
  const IoCostQos& qos = settings.qos();
  AddText(kIoCostDevice, settings.device(), values);
  AddNumber("rbps", model.rbps(), values);
  AddNumber("rseqiops", model.rseqiops(), values);
  AddNumber("rrandiops", model.rrandiops(), values);
  AddNumber("wbps", model.wbps(), values);
  AddNumber("wseqiops", model.wseqiops(), values);
  AddNumber("wrandiops", model.wrandiops(), values);
  AddNumber("rpct", qos.rpct(), values);
  AddNumber("rlat", qos.rlat(), values);
  AddNumber("wpct", qos.wpct(), values);
  AddNumber("wlat", qos.wlat(), values);
  AddNumber("min", qos.min(), values);
  AddNumber("max", qos.max(), values);
}

IoCostSettings IoCostFrom(const BenchValues& values) {
  IoCostSettings settings;
  settings.set_device(FindText(values, kIoCostDevice));
  settings.set_enable(true);
  IoCostModel& model = *settings.mutable_model();
  model.set_rbps(WholeOrZero(values, "rbps"));
  model.set_rseqiops(WholeOrZero(values, "rseqiops"));
  model.set_rrandiops(WholeOrZero(values, "rrandiops"));
  model.set_wbps(WholeOrZero(values, "wbps"));
  model.set_wseqiops(WholeOrZero(values, "wseqiops"));
  model.set_wrandiops(WholeOrZero(values, "wrandiops"));
  IoCostQos& qos = *settings.mutable_qos();
  qos.set_rpct(FindNumber(values, "rpct").value_or(0));
  qos.set_rlat(WholeOrZero(values, "rlat"));
  qos.set_wpct(FindNumber(values, "wpct").value_or(0));
  qos.set_wlat(WholeOrZero(values, "wlat"));
  qos.set_min(FindNumber(values, "min").value_or(0));
  qos.set_max(FindNumber(values, "max").value_or(0));
  return settings;
}

namespace {

constexpr char kHashSize[] = "hash_size";
constexpr char kChunkPages[] = "chunk_pages";
constexpr char kMaxRate[] = "rps_max";
constexpr char kFootprint[] = "mem_actual";

std::optional<int64_t> WholeIfAny(const BenchValues& values, const char* name) {
  const std::optional<double> number = FindNumber(values, name);
  if (!number.has_value()) return std::nullopt;
  return std::llround(*number);
}

}  // namespace

void AddStorageSizes(const StorageSizes& sizes, BenchValues& values) {
  if (sizes.hash_bytes.has_value()) {
    AddNumber(kHashSize, *sizes.hash_bytes, values, kBytes);
  }
  if (sizes.max_rate.has_value()) {
    AddNumber(kMaxRate, *sizes.max_rate, values);
  }
  if (sizes.footprint_bytes.has_value()) {
    AddNumber(kFootprint, *sizes.footprint_bytes, values, kBytes);
  }
  if (sizes.chunk_pages.has_value()) {
    AddNumber(kChunkPages, *sizes.chunk_pages, values);
  }
}

StorageSizes StorageSizesFrom(const BenchValues& values) {
  StorageSizes sizes;
  sizes.hash_bytes = WholeIfAny(values, kHashSize);
  sizes.chunk_pages = WholeIfAny(values, kChunkPages);
  sizes.max_rate = FindNumber(values, kMaxRate);
  sizes.footprint_bytes = WholeIfAny(values, kFootprint);
  return sizes;
}

namespace {

// Names of parameters, in the order of SizingOptions.
constexpr char kLimit[] = "limit_seconds";
constexpr char kQuantile[] = "quantile";
constexpr char kQuietShare[] = "quiet_share";
constexpr char kFootprintLoad[] = "footprint_load";
constexpr char kSmallFootprint[] = "small_footprint";
constexpr char kLikelyFootprint[] = "likely_footprint";
constexpr char kMaxFootprint[] = "max_footprint";
constexpr char kTolerance[] = "tolerance";
constexpr char kMaxProbes[] = "max_probes";

SearchReport& ReportOf(SizingPhase phase, TestSequenceResults& results) {
  const std::string unit(ToString(phase));
  for (SearchReport& report : *results.mutable_searches()) {
    if (report.load_unit() == unit) return report;
  }
  SearchReport& report = *results.add_searches();
  report.set_load_unit(unit);
  return report;
}

}  // namespace

void AddSizingOptions(const SizingOptions& options, BenchValues& values) {
  AddNumber(kLimit, options.limit_seconds, values, "s");
  AddNumber(kQuantile, options.quantile, values);
  AddNumber(kQuietShare, options.quiet_share, values);
  AddNumber(kFootprintLoad, options.footprint_load, values);
  AddNumber(kSmallFootprint, options.small_footprint_bytes, values, kBytes);
  AddNumber(kLikelyFootprint, options.likely_footprint_bytes, values, kBytes);
  AddNumber(kMaxFootprint, options.max_footprint_bytes, values, kBytes);
  AddNumber(kTolerance, options.tolerance, values);
  AddNumber(kMaxProbes, options.max_probes, values);
}

absl::StatusOr<SizingOptions> SizingOptionsFrom(const BenchValues& values) {
  absl::Status status;
  const auto number = [&](const char* name) {
    const std::optional<double> found = FindNumber(values, name);
    if (!found.has_value() || !std::isfinite(*found) ||
        std::abs(*found) >= std::ldexp(1, 62)) {
      status.Update(absl::InvalidArgumentError(
          absl::StrCat("the parameter ", name, " is missing or no number")));
      return 0.0;
    }
    return *found;
  };
  SizingOptions options;
  options.limit_seconds = number(kLimit);
  options.quantile = number(kQuantile);
  options.quiet_share = number(kQuietShare);
  options.footprint_load = number(kFootprintLoad);
  options.small_footprint_bytes = std::llround(number(kSmallFootprint));
  options.likely_footprint_bytes = std::llround(number(kLikelyFootprint));
  options.max_footprint_bytes = std::llround(number(kMaxFootprint));
  options.tolerance = number(kTolerance);
  const double probes = number(kMaxProbes);
  options.max_probes =
      probes >= 0 && probes <= INT32_MAX ? static_cast<int>(probes) : 0;
  status.Update(CheckSizingOptions(options));
  if (!status.ok()) return status;
  return options;
}

void AddProbeRecord(const SizingProbe& probe, const search::Probe& outcome,
                    TestSequenceResults& results) {
  SearchReport& report = ReportOf(probe.phase, results);
  SearchProbe& record = *report.add_probes();
  record.set_number(report.probes_size());
  record.set_phase(std::string(search::ToString(outcome.request.phase)));
  record.set_requested_load(outcome.request.load);
  record.set_length(outcome.request.length);
  record.set_achieved_load(outcome.achieved_load);
  record.set_outcome(search::OutcomeOf(outcome));
  record.add_measured(search::Describe(outcome));
  record.set_excess(outcome.excess);
  record.set_excess_error(outcome.excess_error);
  // Only the time between them is known, and matters.
  record.set_start_timestamp_ns(0);
  record.set_end_timestamp_ns(
      std::llround(outcome.seconds * base::kNsPerSecond));
}

absl::Status TryAgain(const SizingOptions& options,
                      TestSequenceResults& results) {
  StorageSizing sizing(options);
  if (absl::Status status = Replay(results, sizing); !status.ok()) {
    return status;
  }
  if (sizing.Next() || sizing.result().is_complete()) return absl::OkStatus();
  const search::SearchResult& last = sizing.result().answers.back().search;
  SearchReport& report = *results.mutable_searches()->rbegin();
  report.set_verdict(std::string(search::ToString(last.verdict)));
  report.set_evidence(last.evidence);
  search::BeginAnotherAttempt(report);
  return absl::OkStatus();
}

absl::Status Replay(const TestSequenceResults& results, StorageSizing& sizing) {
  for (const SearchReport& report : results.searches()) {
    const auto next = [&]() -> std::optional<search::ProbeRequest> {
      const std::optional<SizingProbe> asked = sizing.Next();
      if (!asked || ToString(asked->phase) != report.load_unit()) {
        return std::nullopt;
      }
      return asked->request;
    };
    const absl::Status replayed = search::ReplayProbes(
        report, next, [&](const search::Probe& probe) { sizing.Add(probe); });
    if (replayed.ok()) continue;
    return absl::Status(
        replayed.code(),
        absl::StrCat(report.load_unit(), ": ", replayed.message(),
                     ", or give the job another id="));
  }
  return absl::OkStatus();
}

}  // namespace distbench::bench
