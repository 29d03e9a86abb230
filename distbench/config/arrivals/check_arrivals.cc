#include "distbench/config/arrivals/check_arrivals.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/config/arrivals/recording.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"

namespace distbench::config {
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
    if (source.process() == "recorded") {
      CheckRecording(source.recorded(), path.Field("recorded").Field("file"));
    }
    for (int i = 0; i < source.modulations_size(); ++i) {
      CheckModulation(source.modulations(i), path.Field("modulations").At(i));
    }
  }

  void CheckRecording(const RecordedArrivals& recorded, const Path& file) {
    if (!recorded.has_file() && !recorded.has_times()) {
      problems_.Add(file,
                    "is missing; name a file with a time in seconds per line");
      return;
    }
    const absl::StatusOr<std::vector<double>> gaps =
        ParseRecording(recorded.times());
    if (!gaps.ok()) problems_.Add(file, std::string(gaps.status().message()));
  }

  void CheckModulation(const RateModulation& modulation, const Path& path) {
    bool repeats = true;
    bool is_random = false;
    switch (modulation.kind_case()) {
      case RateModulation::kSine:
        break;
      case RateModulation::kOnOff:
        is_random = modulation.on_off().times() == "exponential";
        break;
      case RateModulation::kSchedule:
        CheckFactors(modulation.schedule().segments(),
                     path.Field("schedule").Field("segments"));
        repeats = modulation.schedule().repeat();
        break;
      case RateModulation::kMarkov:
        CheckFactors(modulation.markov().states(),
                     path.Field("markov").Field("states"));
        is_random = true;
        break;
      case RateModulation::KIND_NOT_SET:
        return;
    }
    std::vector<std::string> phases = {"none"};
    if (is_random || repeats) phases.push_back("random");
    if (!is_random && repeats) phases.push_back("spread");
    CheckWord(path.Field("client_phase"), modulation.client_phase(),
              "a phase of this modulation", phases);
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

  // An empty word is the default.
  void CheckWord(const Path& path, const std::string& word,
                 absl::string_view kind,
                 const std::vector<std::string>& known) {
    if (word.empty() ||
        std::find(known.begin(), known.end(), word) != known.end()) {
      return;
    }
    problems_.Add(path, absl::StrCat(Quoted(word), " is not ", kind,
                                     "; must be one of ", QuotedList(known)));
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
