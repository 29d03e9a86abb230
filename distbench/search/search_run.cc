#include "distbench/search/search_run.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace distbench {
namespace {

// Further probes are not lengthened for the sake of samples.
constexpr double kMaxLengthening = 10;

// Of RPCs that an objective needs to see; 0 if it is not about a percentile.
double NeededCount(const Objective& objective, int min_tail_samples) {
  const auto* metric = std::get_if<Metric>(&objective.metric);
  if (metric == nullptr || metric->kind != Metric::Kind::kPercentile) return 0;
  return min_tail_samples / (1 - metric->percent / 100);
}

absl::StatusOr<MeasuredProbe> RunProbe(int number, const ProbeRequest& request,
                                       const SearchTiming& timing,
                                       const RateKnob& knob,
                                       absl::Span<const Objective> objectives,
                                       const SearchCallbacks& callbacks) {
  const absl::Duration measured = ProbeTime(request, timing, objectives);
  callbacks.announce(number, request, timing.warmup, measured);
  const absl::StatusOr<TestResult> result = callbacks.run(knob.At(
      {.load = request.load, .warmup = timing.warmup, .measured = measured}));
  if (!result.ok()) return result.status();
  absl::StatusOr<MeasuredProbe> probe =
      MeasureProbe(request, objectives, *result);
  if (probe.ok()) callbacks.observe(number, *probe, *result);
  return probe;
}

}  // namespace

absl::Duration ProbeTime(const ProbeRequest& request,
                         const SearchTiming& timing,
                         absl::Span<const Objective> objectives) {
  const absl::Duration asked = request.phase == ProbePhase::kFinal
                                   ? timing.final_run
                                   : timing.probe * request.length;
  double needed_count = 0;
  for (const Objective& objective : objectives) {
    needed_count =
        std::max(needed_count, NeededCount(objective, timing.min_tail_samples));
  }
  return std::clamp(absl::Seconds(needed_count / request.load), asked,
                    asked * kMaxLengthening);
}

absl::StatusOr<SearchResult> RunLoadSearch(
    const SearchOptions& options, const SearchTiming& timing,
    const RateKnob& knob, absl::Span<const Objective> objectives,
    const SearchCallbacks& callbacks) {
  LoadSearch search(options);
  while (search.Next().has_value()) {
    const int number = static_cast<int>(search.probes().size()) + 1;
    const absl::StatusOr<MeasuredProbe> probe =
        RunProbe(number, *search.Next(), timing, knob, objectives, callbacks);
    if (!probe.ok()) return probe.status();
    search.Add(probe->probe);
  }
  return search.result();
}

absl::StatusOr<bool> RunLoadList(absl::Span<const double> loads,
                                 const SearchTiming& timing,
                                 const RateKnob& knob,
                                 absl::Span<const Objective> objectives,
                                 const SearchCallbacks& callbacks) {
  bool all_met = true;
  int number = 0;
  for (const double load : loads) {
    const ProbeRequest request = {.phase = ProbePhase::kFinal, .load = load};
    const absl::StatusOr<MeasuredProbe> probe =
        RunProbe(++number, request, timing, knob, objectives, callbacks);
    if (!probe.ok()) return probe.status();
    all_met &= !probe->probe.generator_limited && probe->probe.excess <= 0;
  }
  return all_met;
}

}  // namespace distbench
