// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/check_arrivals.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/time_units.h"
#include "distbench/config/rules/field_rules.h"

namespace distbench::config {
namespace {

// ---- Recordings -------------------------------------------------------------

constexpr int kMinRecordedArrivals = 3;
constexpr int kMaxRecordedArrivals = 500'000;

// Of a whole recording. Far less could not be scaled.
constexpr double kShortestSeconds = 1e-9;

absl::Status BadLine(int number, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", number, " ", problem));
}

}  // namespace

absl::StatusOr<std::vector<double>> ParseRecording(absl::string_view text) {
  std::vector<double> gaps;
  double first = 0;
  double last = 0;
  int arrivals = 0;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    double seconds;
    if (!absl::SimpleAtod(line, &seconds) || !std::isfinite(seconds)) {
      return BadLine(number, "is not a time; write seconds, such as 12.345");
    }
    if (arrivals > 0 && seconds < last) {
      return BadLine(number, "is before the previous time; sort them");
    }
    if (++arrivals > kMaxRecordedArrivals) {
      return BadLine(
          number, absl::StrCat("is beyond the limit of ", kMaxRecordedArrivals,
                               " times; leave some out"));
    }
    if (arrivals == 1) first = seconds;
    if (arrivals > 1) gaps.push_back(seconds - last);
    last = seconds;
  }
  if (arrivals < kMinRecordedArrivals) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", arrivals, " times of arrivals; at least ",
                     kMinRecordedArrivals, " make a process"));
  }
  if (last - first < kShortestSeconds || !std::isfinite(last - first)) {
    return absl::InvalidArgumentError(
        "has no time between its arrivals; write seconds with a fraction");
  }
  return gaps;
}

// ---- What holds between fields ----------------------------------------------

namespace {

class ArrivalsCheck {
 public:
  explicit ArrivalsCheck(Problems& problems) : problems_(problems) {}

  void Check(const Arrivals& arrivals, const Path& path) {
    if (arrivals.superposed().empty()) {
      CheckSource(arrivals, path);
      if (arrivals.has_share()) {
        problems_.Add(path.Field("share"),
                      "has no effect outside of superposed; remove it");
      }
      return;
    }
    for (int i = 0; i < arrivals.superposed_size(); ++i) {
      CheckPart(arrivals.superposed(i), path.Field("superposed").At(i));
    }
  }

 private:
  void CheckPart(const Arrivals& part, const Path& path) {
    if (!part.superposed().empty()) {
      problems_.Add(path.Field("superposed"),
                    "is within superposed; list all processes in one");
    }
    if (part.has_recorded() && !part.recorded().repeat()) {
      problems_.Add(path.Field("recorded").Field("repeat"),
                    "is false within superposed, where a process cannot end; "
                    "remove it");
    }
    CheckSource(part, path);
  }

  void CheckSource(const Arrivals& source, const Path& path) {
    // That it has neither is a rule of its fields.
    if (source.process() == "recorded" &&
        !(source.recorded().file().empty() &&
          source.recorded().times().empty())) {
      CheckRecording(source.recorded(), path.Field("recorded").Field("file"));
    }
    for (int i = 0; i < source.modulations_size(); ++i) {
      CheckModulation(source.modulations(i), path.Field("modulations").At(i));
    }
  }

  void CheckRecording(const RecordedArrivals& recorded, const Path& file) {
    const absl::StatusOr<std::vector<double>> gaps =
        ParseRecording(recorded.times());
    if (!gaps.ok()) problems_.Add(file, gaps.status().message());
  }

  void CheckModulation(const RateModulation& modulation, const Path& path) {
    if (modulation.has_schedule()) {
      CheckFactors(modulation.schedule().segments(),
                   path.Field("schedule").Field("segments"));
    } else if (modulation.has_markov()) {
      CheckFactors(modulation.markov().states(),
                   path.Field("markov").Field("states"));
    }
  }

  static double GreatestFactor(const RateSegment& segment) {
    return std::max(segment.factor(), segment.to_factor());
  }
  static double GreatestFactor(const RateState& state) {
    return state.factor();
  }

  template <typename Parts>
  void CheckFactors(const Parts& parts, const Path& path) {
    double most = 0;
    for (const auto& part : parts) most = std::max(most, GreatestFactor(part));
    if (most > 0) return;
    problems_.Add(path,
                  "all have the factor 0, so that nothing arrives; give one of "
                  "them a factor");
  }

  Problems& problems_;
};

}  // namespace

void CanonicalizeArrivals(Iterations& iterations) {
  const Arrivals& arrivals = iterations.arrivals();
  if (arrivals.process() != "recorded") return;
  const bool needs_rate =
      !iterations.has_rate() && !iterations.has_open_loop_interval_ns();
  const bool needs_count =
      !arrivals.recorded().repeat() && !iterations.has_max_iteration_count();
  if (!needs_rate && !needs_count) return;
  const auto gaps = ParseRecording(arrivals.recorded().times());
  if (!gaps.ok() || !(arrivals.kept_share() > 0)) return;
  const auto count = static_cast<int64_t>(gaps->size());
  if (needs_count) iterations.set_max_iteration_count(count + 1);
  if (!needs_rate) return;
  double sum_s = 0;
  for (const double gap : *gaps) sum_s += gap;
  // The rate is that of the arrivals that are kept.
  const double interval_ns = sum_s / static_cast<double>(count) *
                             base::kNsPerSecond / arrivals.kept_share();
  iterations.set_open_loop_interval_ns(static_cast<int64_t>(std::clamp(
      std::round(interval_ns), 1.0, static_cast<double>(kMaxIntervalNs))));
}

void CheckArrivals(const Arrivals& arrivals, const Path& path,
                   Problems& problems) {
  CheckFields(arrivals, path, nullptr, problems);
  CheckArrivalsBetweenFields(arrivals, path, problems);
}

void CheckArrivalsBetweenFields(const Arrivals& arrivals, const Path& path,
                                Problems& problems) {
  ArrivalsCheck(problems).Check(arrivals, path);
}

}  // namespace distbench::config
