#include "distbench/products/history/trend.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::history {
namespace {

std::vector<StoredPoint> JudgedPoints(const std::vector<StoredPoint>& points) {
  std::vector<StoredPoint> judged;
  for (const StoredPoint& point : points) {
    if (!point.is_left_out) judged.push_back(point);
  }
  return judged;
}

std::vector<double> ValuesOf(const std::vector<StoredPoint>& points) {
  std::vector<double> values;
  for (const StoredPoint& point : points) values.push_back(point.point.value);
  return values;
}

// The results that belong to a change at the index.
struct Nearby {
  size_t first;
  size_t last;  // included
};

Nearby NearbyOf(size_t index, size_t count) {
  return {.first = index < kNearbyResults ? 0 : index - kNearbyResults,
          .last = std::min(count - 1, index + kNearbyResults)};
}

bool IsAccepted(const StoredChange& change, const ResultNotes& notes) {
  return std::any_of(
      change.nearby.begin(), change.nearby.end(),
      [&](const std::string& id) { return notes.Find(id).is_accepted; });
}

std::string FactIn(const std::map<std::string, std::string>& facts,
                   const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

// The facts that differ between a point and the one before it.
std::vector<ChangedFact> FactsChangedAt(size_t index, int distance,
                                        const std::vector<StoredPoint>& points,
                                        const Environments& environments) {
  const int64_t ids[] = {points[index - 1].environment,
                         points[index].environment};
  if (ids[0] == ids[1]) return {};
  const auto& before = environments.at(ids[0]);
  const auto& after = environments.at(ids[1]);
  std::set<std::string> names;
  for (const auto* facts : {&before, &after}) {
    for (const auto& [name, value] : *facts) names.insert(name);
  }
  std::vector<ChangedFact> changed;
  for (const std::string& name : names) {
    ChangedFact fact = {.name = name,
                        .before = FactIn(before, name),
                        .after = FactIn(after, name),
                        .distance = distance};
    if (fact.before != fact.after) changed.push_back(std::move(fact));
  }
  return changed;
}

std::vector<ChangedFact> FactsNear(size_t index,
                                   const std::vector<StoredPoint>& points,
                                   const Environments& environments) {
  const Nearby nearby = NearbyOf(index, points.size());
  std::vector<ChangedFact> facts;
  for (size_t i = std::max<size_t>(1, nearby.first); i <= nearby.last; ++i) {
    const int distance = static_cast<int>(i) - static_cast<int>(index);
    for (ChangedFact& fact :
         FactsChangedAt(i, distance, points, environments)) {
      facts.push_back(std::move(fact));
    }
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [](const ChangedFact& a, const ChangedFact& b) {
                     return std::abs(a.distance) < std::abs(b.distance);
                   });
  return facts;
}

// The stored changes, by the indices of their points.
std::vector<ChangePoint> PlacesOf(const std::vector<StoredChange>& changes,
                                  const std::vector<StoredPoint>& points) {
  std::vector<ChangePoint> places;
  for (const StoredChange& change : changes) {
    const auto point = std::lower_bound(
        points.begin(), points.end(), change.position,
        [](const StoredPoint& a, int64_t b) { return a.position < b; });
    places.push_back({.index = static_cast<size_t>(point - points.begin()),
                      .p_value = change.p_value});
  }
  return places;
}

}  // namespace

std::vector<StoredChange> JudgePoints(const std::vector<StoredPoint>& points,
                                      int family_size) {
  const std::vector<StoredPoint> judged = JudgedPoints(points);
  std::vector<StoredChange> changes;
  for (const ChangePoint& found :
       FindChanges(ValuesOf(judged), family_size).changes) {
    StoredChange change = {.position = judged[found.index].position,
                           .started_ms = judged[found.index].point.started_ms,
                           .p_value = found.p_value,
                           .nearby = {}};
    const Nearby nearby = NearbyOf(found.index, judged.size());
    for (size_t i = nearby.first; i <= nearby.last; ++i) {
      change.nearby.push_back(judged[i].point.result_id);
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

SeriesSummary SummaryOf(const StoredSeries& series, const ResultNotes& notes) {
  SeriesSummary summary = series.summary;
  for (const StoredChange& change : series.changes) {
    if (IsAccepted(change, notes)) continue;
    ++summary.changes;
    summary.last_change_ms = change.started_ms;
  }
  return summary;
}

Trend MakeTrend(const StoredSeries& series,
                const std::vector<StoredPoint>& points,
                const Environments& environments, const ResultNotes& notes) {
  const std::vector<StoredPoint> judged = JudgedPoints(points);
  Trend trend;
  trend.series = SummaryOf(series, notes);
  trend.left_out = static_cast<int64_t>(points.size() - judged.size());
  for (const StoredPoint& point : judged) {
    trend.points.push_back(point.point);
    trend.points.back().is_accepted =
        notes.Find(point.point.result_id).is_accepted;
  }
  if (judged.size() < kMinJudgedPoints) {
    trend.problem = absl::StrCat("a trend needs at least ", kMinJudgedPoints,
                                 " valid results; there are ", judged.size());
  }
  Judgement judgement =
      DescribeChanges(ValuesOf(judged), PlacesOf(series.changes, judged));
  trend.segments = std::move(judgement.segments);
  for (size_t i = 0; i < judgement.changes.size(); ++i) {
    const ChangePoint& change = judgement.changes[i];
    trend.changes.push_back(
        {.change = change,
         .started_ms = judged[change.index].point.started_ms,
         .is_accepted = IsAccepted(series.changes[i], notes),
         .facts = FactsNear(change.index, judged, environments)});
  }
  return trend;
}

}  // namespace distbench::history
