#include "distbench/config/arrivals/check_arrivals.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
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
    Arrivals others = arrivals;
    others.clear_superposed();
    if (others.ByteSizeLong() > 0) {
      problems_.Add(path,
                    "superposed excludes all other fields; move them into its "
                    "processes");
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
    CheckGamma(source, path);
    CheckRecording(source, path);
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
        break;
      case RateModulation::kOnOff:
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

  void CheckSchedule(const RateSchedule& schedule, const Path& path) {
    const Path place = path.Field("segments");
    double most = 0;
    for (const RateSegment& segment : schedule.segments()) {
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
    double most = 0;
    for (const RateState& state : markov.states()) {
      most = std::max(most, state.factor());
    }
    if (most == 0) {
      problems_.Add(place,
                    "all have the factor 0, so that nothing arrives; "
                    "give one of them a factor");
    }
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
  CheckFields(arrivals, path, nullptr, problems);
  CheckArrivalsBetweenFields(arrivals, path, problems);
}

void CheckArrivalsBetweenFields(const Arrivals& arrivals, const Path& path,
                                Problems& problems) {
  ArrivalsCheck(problems).Check(arrivals, path);
}

}  // namespace distbench::config
