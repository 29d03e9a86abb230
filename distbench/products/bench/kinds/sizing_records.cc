#include "distbench/products/bench/kinds/sizing_records.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/products/bench/kinds/values.h"
#include "distbench/products/search/judgement/measured_probe.h"
#include "distbench/products/search/search_report.h"

namespace distbench::bench {
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

std::string OutcomeOf(const search::Probe& probe) {
  if (probe.generator_limited) return search::kGeneratorLimitedOutcome;
  return search::Met(probe) ? search::kMetOutcome : search::kMissedOutcome;
}

// Whether the record is of the probe that the sizing asks for. The search
// repeats its own arithmetic, so that loads are equal to the last digit.
bool IsAskedFor(const SizingProbe& asked, const std::string& unit,
                const search::Probe& recorded) {
  return ToString(asked.phase) == unit &&
         asked.request.phase == recorded.request.phase &&
         asked.request.load == recorded.request.load &&
         asked.request.length == recorded.request.length;
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
  record.set_outcome(OutcomeOf(outcome));
  record.add_measured(search::Describe(outcome));
  record.set_excess(outcome.excess);
  record.set_excess_error(outcome.excess_error);
  // Only the time between them is known, and matters.
  record.set_start_timestamp_ns(0);
  record.set_end_timestamp_ns(
      std::llround(outcome.seconds * base::kNsPerSecond));
}

absl::Status Replay(const TestSequenceResults& results, StorageSizing& sizing) {
  for (const SearchReport& report : results.searches()) {
    for (const SearchProbe& record : report.probes()) {
      const absl::StatusOr<search::Probe> probe = search::ToProbe(record);
      if (!probe.ok()) return probe.status();
      const std::optional<SizingProbe> asked = sizing.Next();
      if (!asked.has_value() ||
          !IsAskedFor(*asked, report.load_unit(), *probe)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "probe ", record.number(), " of ", report.load_unit(),
            " does not continue the search before it: the host's memory or "
            "distbench has changed since; give the job another id="));
      }
      sizing.Add(*probe);
    }
  }
  return absl::OkStatus();
}

}  // namespace distbench::bench
