#include "distbench/products/protection/experiment/phases.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::protection {
namespace {

// The sum of all phases before an antagonist is the delay of an action, which
// has a limit of eleven days.
constexpr absl::Duration kLongestPhase = absl::Hours(72);

// Reads one duration into `duration`, unless it has a problem.
void ReadDuration(const config::Path& path, bool is_given,
                  const std::string& text, absl::Duration shortest,
                  absl::Duration& duration, config::Problems& problems) {
  if (!is_given) return;
  const absl::StatusOr<absl::Duration> parsed =
      config::ParseDurationWithUnit(text);
  if (!parsed.ok()) {
    problems.Add(path, std::string(parsed.status().message()));
  } else if (*parsed < shortest || *parsed > kLongestPhase) {
    problems.Add(path, absl::StrCat(config::Quoted(text),
                                    " is out of range; must be from ",
                                    absl::FormatDuration(shortest), " to ",
                                    absl::FormatDuration(kLongestPhase)));
  } else {
    duration = *parsed;
  }
}

void CheckFlatness(const PhaseDurations& durations, const config::Path& path,
                   config::Problems& problems) {
  const double percent = durations.flat_within_percent;
  if (!(percent >= kLeastFlatPercent && percent <= kMostFlatPercent)) {
    problems.Add(path.Field("flat_within_percent"),
                 absl::StrCat(percent, " is out of range; must be from ",
                              kLeastFlatPercent, " to ", kMostFlatPercent));
  }
  if (durations.flat_over <= durations.stabilise) return;
  problems.Add(
      path.Field("flat_over"),
      absl::StrCat(absl::FormatDuration(durations.flat_over),
                   " is longer than stabilise, ",
                   absl::FormatDuration(durations.stabilise),
                   ", in which it must pass; shorten it, or lengthen that"));
}

}  // namespace

PhaseDurations ReadPhases(const ExperimentPhases& phases,
                          const config::Path& path,
                          config::Problems& problems) {
  PhaseDurations durations;
  ReadDuration(path.Field("stabilise"), phases.has_stabilise(),
               phases.stabilise(), kShortestFlatTime, durations.stabilise,
               problems);
  ReadDuration(path.Field("flat_over"), phases.has_flat_over(),
               phases.flat_over(), kShortestFlatTime, durations.flat_over,
               problems);
  ReadDuration(path.Field("baseline"), phases.has_baseline(), phases.baseline(),
               kShortestPhase, durations.baseline, problems);
  ReadDuration(path.Field("interfere"), phases.has_interfere(),
               phases.interfere(), kShortestPhase, durations.interfere,
               problems);
  ReadDuration(path.Field("recover"), phases.has_recover(), phases.recover(),
               absl::ZeroDuration(), durations.recover, problems);
  if (phases.has_flat_within_percent()) {
    durations.flat_within_percent = phases.flat_within_percent();
  }
  CheckFlatness(durations, path, problems);
  return durations;
}

ExperimentPhases FormatPhases(const PhaseDurations& durations) {
  ExperimentPhases phases;
  phases.set_stabilise(absl::FormatDuration(durations.stabilise));
  phases.set_flat_over(absl::FormatDuration(durations.flat_over));
  phases.set_flat_within_percent(durations.flat_within_percent);
  phases.set_baseline(absl::FormatDuration(durations.baseline));
  phases.set_interfere(absl::FormatDuration(durations.interfere));
  phases.set_recover(absl::FormatDuration(durations.recover));
  return phases;
}

absl::StatusOr<ExperimentLoad> ParseExperimentLoad(absl::string_view text) {
  if (!absl::EndsWith(text, "%")) {
    const absl::StatusOr<double> rate = config::ParseRateWithUnit(text);
    if (rate.ok()) return ExperimentLoad{.value = *rate};
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is not a load; write a rate such as 200/s, or a share "
                     "of the capacity such as 80%"));
  }
  const std::optional<double> percent = base::ParsePercent(text);
  if (!percent || *percent <= 0 || *percent > 100 * kMaxLoadShare) {
    return absl::InvalidArgumentError(
        absl::StrCat(config::Quoted(text),
                     " is not a share of the capacity; must be above 0%, and "
                     "at most ",
                     100 * kMaxLoadShare, "%"));
  }
  return ExperimentLoad{.is_share = true, .value = *percent / 100};
}

}  // namespace distbench::protection
