#include "distbench/report/comparison/capacity.h"

#include <algorithm>

#include "distbench/base/plugins.h"
#include "distbench/report/comparison/compare.h"

namespace distbench::report {

bool HasChosenLoad(const TestRun& run) {
  const auto& sources = base::Plugins<CapacitySource>::All();
  return std::any_of(sources.begin(), sources.end(), [&](const auto& source) {
    return source.second->chose_loads(*run.sequence);
  });
}

bool IsLoad(const CapacityRatio& ratio) { return ratio.name == "load"; }

ComparisonVerdict JudgeRatio(const CapacityRatio& ratio, double tolerance) {
  const auto& interval = ratio.ratio.interval;
  if (!interval) return ComparisonVerdict::kNotShown;
  const double resolution = IsLoad(ratio) ? tolerance : kLatencyResolution;
  const bool is_shown = interval->lower > 1 || interval->upper < 1;
  const double change = ratio.ratio.estimate;
  if (!is_shown || std::max(change, 1 / change) <= 1 + resolution) {
    return ComparisonVerdict::kNoDifference;
  }
  return (change > 1) == IsLoad(ratio) ? ComparisonVerdict::kBetter
                                       : ComparisonVerdict::kWorse;
}

std::vector<TestRun> ListPlainRuns(absl::Span<const SourcedResults> results) {
  std::vector<TestRun> runs = ListRuns(results);
  std::erase_if(runs, HasChosenLoad);
  return runs;
}

CapacityComparisons CompareCapacities(absl::Span<const SourcedResults> base,
                                      absl::Span<const SourcedResults> next,
                                      bool allow_different_traffic) {
  CapacityComparisons all;
  for (const auto& [name, source] :
       ::distbench::base::Plugins<CapacitySource>::All()) {
    const CapacityComparisons own =
        source->compare(base, next, allow_different_traffic);
    all.notes.insert(all.notes.end(), own.notes.begin(), own.notes.end());
    all.questions.insert(all.questions.end(), own.questions.begin(),
                         own.questions.end());
  }
  return all;
}

}  // namespace distbench::report
