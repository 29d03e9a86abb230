#include "distbench/config/arrivals/check_arrivals.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/recording.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

constexpr int kMaxModulations = 8;
constexpr int kMaxSuperposed = 16;
constexpr int kMaxSegments = 10'000;
constexpr int kMaxStates = 16;
constexpr double kMaxFactor = 1000;
constexpr int64_t kMinTimeNs = 1000;
constexpr int64_t kMinPeriodNs = 1'000'000;
// About 31 years, as other times of configs.
constexpr int64_t kMaxTimeNs = 1'000'000'000'000'000'000;

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
    Arrivals others = arrivals;
    others.clear_superposed();
    if (others.ByteSizeLong() > 0) {
      problems_.Add(path,
                    "superposed excludes all other fields; move them into its "
                    "processes");
    }
    CheckCount(path.Field("superposed"), arrivals.superposed_size(), 1,
               kMaxSuperposed);
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
    CheckNumber(path.Field("share"), part.share(), 1e-6, 1e6);
    if (part.has_recorded() && !part.recorded().repeat()) {
      problems_.Add(path.Field("recorded").Field("repeat"),
                    "is false within superposed, where a process cannot end; "
                    "remove it");
    }
    CheckSource(part, path);
  }

  void CheckSource(const Arrivals& source, const Path& path) {
    CheckWord(path.Field("process"), source.process(), "a process",
              {"constant", "exponential", "gamma", "recorded"});
    CheckGamma(source, path);
    CheckRecording(source, path);
    CheckNumber(path.Field("kept_share"), source.kept_share(), 0.001, 1);
    CheckWord(path.Field("client_phase"), source.client_phase(), "a phase",
              {"none", "random", "spread"});
    CheckCount(path.Field("modulations"), source.modulations_size(), 0,
               kMaxModulations);
    for (int i = 0; i < source.modulations_size(); ++i) {
      CheckModulation(source.modulations(i), path.Field("modulations").At(i));
    }
  }

  void CheckGamma(const Arrivals& source, const Path& path) {
    const Path place = path.Field("coefficient_of_variation");
    if (source.process() == "gamma") {
      if (!source.has_coefficient_of_variation()) {
        problems_.Add(place,
                      "is missing, which gamma needs; 1 is a Poisson process, "
                      "3 is bursty");
      } else {
        CheckNumber(place, source.coefficient_of_variation(), 0.01, 20);
      }
    } else if (source.has_coefficient_of_variation()) {
      problems_.Add(place,
                    "has an effect for gamma only; set process: \"gamma\", or "
                    "remove it");
    }
  }

  void CheckRecording(const Arrivals& source, const Path& path) {
    const Path place = path.Field("recorded");
    if (source.process() != "recorded") {
      if (source.has_recorded()) {
        problems_.Add(place,
                      "has an effect for recorded arrivals only; set process: "
                      "\"recorded\", or remove it");
      }
      return;
    }
    if (!source.recorded().has_file() && !source.recorded().has_times()) {
      problems_.Add(place.Field("file"),
                    "is missing; name a file with a time in seconds per line");
      return;
    }
    const absl::StatusOr<std::vector<double>> gaps =
        ParseRecording(source.recorded().times());
    if (!gaps.ok()) {
      problems_.Add(place.Field("file"), std::string(gaps.status().message()));
    }
  }

  void CheckModulation(const RateModulation& modulation, const Path& path) {
    bool repeats = true;
    bool is_random = false;
    switch (modulation.kind_case()) {
      case RateModulation::kSine:
        CheckSine(modulation.sine(), path.Field("sine"));
        break;
      case RateModulation::kOnOff:
        CheckOnOff(modulation.on_off(), path.Field("on_off"));
        is_random = modulation.on_off().times() == "exponential";
        break;
      case RateModulation::kSchedule:
        CheckSchedule(modulation.schedule(), path.Field("schedule"));
        repeats = modulation.schedule().repeat();
        break;
      case RateModulation::kMarkov:
        CheckMarkov(modulation.markov(), path.Field("markov"));
        is_random = true;
        break;
      case RateModulation::KIND_NOT_SET:
        problems_.Add(path,
                      "changes nothing; add sine, on_off, schedule or markov");
        return;
    }
    std::vector<std::string> phases = {"none"};
    if (is_random || repeats) phases.push_back("random");
    if (!is_random && repeats) phases.push_back("spread");
    CheckWord(path.Field("client_phase"), modulation.client_phase(),
              "a phase of this modulation", phases);
  }

  void CheckSine(const SineRate& sine, const Path& path) {
    CheckTime(path.Field("period_ns"), sine.period_ns(), sine.has_period(),
              kMinPeriodNs);
    CheckNumber(path.Field("amplitude"), sine.amplitude(), 0, 1);
    CheckNumber(path.Field("phase"), sine.phase(), 0, 1);
  }

  void CheckOnOff(const OnOffRate& on_off, const Path& path) {
    CheckTime(path.Field("on_ns"), on_off.on_ns(), on_off.has_on());
    CheckTime(path.Field("off_ns"), on_off.off_ns(), on_off.has_off());
    CheckNumber(path.Field("off_factor"), on_off.off_factor(), 0, kMaxFactor);
    CheckWord(path.Field("times"), on_off.times(), "a kind of times",
              {"fixed", "exponential"});
  }

  void CheckSchedule(const RateSchedule& schedule, const Path& path) {
    const Path place = path.Field("segments");
    CheckCount(place, schedule.segments_size(), 1, kMaxSegments);
    double most = 0;
    for (int i = 0; i < schedule.segments_size() && !problems_.full(); ++i) {
      const RateSegment& segment = schedule.segments(i);
      CheckTime(place.At(i).Field("duration_ns"), segment.duration_ns(),
                segment.has_duration());
      CheckNumber(place.At(i).Field("factor"), segment.factor(), 0, kMaxFactor);
      CheckNumber(place.At(i).Field("to_factor"), segment.to_factor(), 0,
                  kMaxFactor);
      most = std::max({most, segment.factor(), segment.to_factor()});
    }
    if (most == 0) {
      problems_.Add(place,
                    "all have the factor 0, so that nothing arrives; "
                    "give one of them a factor");
    }
  }

  void CheckMarkov(const MarkovRate& markov, const Path& path) {
    const Path place = path.Field("states");
    CheckCount(place, markov.states_size(), 2, kMaxStates);
    double most = 0;
    for (int i = 0; i < markov.states_size(); ++i) {
      const RateState& state = markov.states(i);
      CheckNumber(place.At(i).Field("factor"), state.factor(), 0, kMaxFactor);
      CheckTime(place.At(i).Field("mean_duration_ns"), state.mean_duration_ns(),
                state.has_mean_duration());
      most = std::max(most, state.factor());
    }
    if (most == 0) {
      problems_.Add(place,
                    "all have the factor 0, so that nothing arrives; "
                    "give one of them a factor");
    }
  }

  // A text that is still there is wrong, and its number missing.
  void CheckTime(const Path& path, int64_t time_ns, bool has_text,
                 int64_t minimum_ns = kMinTimeNs) {
    if (!has_text) {
      CheckRange(path, time_ns, minimum_ns, kMaxTimeNs, problems_);
    }
  }

  // Not a number is out of every range.
  void CheckNumber(const Path& path, double value, double minimum,
                   double maximum) {
    if (value >= minimum && value <= maximum) return;
    problems_.Add(path, absl::StrCat(value, " is out of range; must be from ",
                                     minimum, " to ", maximum));
  }

  void CheckCount(const Path& path, int count, int minimum, int maximum) {
    if (count >= minimum && count <= maximum) return;
    problems_.Add(path, absl::StrCat("there are ", count, "; must be from ",
                                     minimum, " to ", maximum));
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

void CheckArrivals(const Arrivals& arrivals, const Path& path,
                   Problems& problems) {
  ArrivalsCheck(problems).Check(arrivals, path);
}

}  // namespace distbench::config
