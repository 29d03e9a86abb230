// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/series.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "distbench/products/history/measured_file.h"
#include "distbench/products/history/trends/change_points.h"

namespace distbench::history {
namespace {

std::pair<int64_t, std::string> PlaceOf(const PlacedPoint& point) {
  return {point.get().point().started(), point.file->name()};
}

// The points that belong to a change at the index.
struct Nearby {
  int first;
  int last;  // included
};

Nearby NearbyOf(int index, int count) {
  return {.first = std::max(0, index - kNearbyPoints),
          .last = std::min(count - 1, index + kNearbyPoints)};
}

bool IsAccepted(const TrendPoint& point, const ResultNotes& notes) {
  return std::any_of(
      point.runs().begin(), point.runs().end(),
      [&](const std::string& id) { return notes.Find(id).is_accepted; });
}

bool IsAccepted(const TrendChange& change, const Trend& trend,
                const ResultNotes& notes) {
  const Nearby nearby =
      NearbyOf(static_cast<int>(change.index()), trend.points_size());
  for (int i = nearby.first; i <= nearby.last; ++i) {
    if (IsAccepted(trend.points(i), notes)) return true;
  }
  return false;
}

// Counts the changes that are not accepted.
void CountChanges(const Trend& trend, const ResultNotes& notes,
                  SeriesSummary& summary) {
  summary.set_changes(0);
  summary.clear_last_change();
  for (const TrendChange& change : trend.changes()) {
    if (IsAccepted(change, trend, notes)) continue;
    summary.set_changes(summary.changes() + 1);
    summary.set_last_change(change.started());
  }
}

using Facts = google::protobuf::Map<std::string, std::string>;

const Facts& FactsOf(const PlacedPoint& point) {
  return point.file->tests(point.get().first_test()).facts();
}

std::string FactIn(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

// The facts that differ between two points, by name.
std::vector<ChangedFact> FactsThatDiffer(const Facts& before,
                                         const Facts& after, int distance) {
  std::set<std::string> names;
  for (const Facts* facts : {&before, &after}) {
    for (const auto& [name, value] : *facts) names.insert(name);
  }
  std::vector<ChangedFact> changed;
  for (const std::string& name : names) {
    ChangedFact fact;
    fact.set_name(name);
    fact.set_before(FactIn(before, name));
    fact.set_after(FactIn(after, name));
    fact.set_distance(distance);
    if (fact.before() != fact.after()) changed.push_back(std::move(fact));
  }
  return changed;
}

void AddFacts(const std::vector<PlacedPoint>& points, TrendChange& change) {
  const int index = static_cast<int>(change.index());
  const Nearby nearby = NearbyOf(index, static_cast<int>(points.size()));
  std::vector<ChangedFact> facts;
  for (int i = std::max(1, nearby.first); i <= nearby.last; ++i) {
    const std::vector<ChangedFact> more =
        FactsThatDiffer(FactsOf(points[i - 1]), FactsOf(points[i]), i - index);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [](const ChangedFact& a, const ChangedFact& b) {
                     return std::abs(a.distance()) < std::abs(b.distance());
                   });
  change.mutable_facts()->Add(facts.begin(), facts.end());
}

void AddJudgement(const Judgement& judgement,
                  const std::vector<PlacedPoint>& points, Trend& trend) {
  for (const Segment& found : judgement.segments) {
    TrendSegment& segment = *trend.add_segments();
    segment.set_first(static_cast<int64_t>(found.first));
    segment.set_last(static_cast<int64_t>(found.last));
    segment.set_mean(found.mean);
    segment.set_noise_low(found.noise_low);
    segment.set_noise_high(found.noise_high);
  }
  for (const ChangePoint& found : judgement.changes) {
    TrendChange& change = *trend.add_changes();
    change.set_index(static_cast<int64_t>(found.index));
    change.set_started(points[found.index].get().point().started());
    change.set_before(found.before);
    change.set_after(found.after);
    change.set_relative(found.relative);
    change.set_p_value(found.p_value);
    change.set_accepted(false);
    AddFacts(points, change);
  }
}

}  // namespace

SeriesSet::Key SeriesSet::KeyOf(const SeriesSummary& series) {
  return {series.test(), series.rpc(), series.metric()};
}

void SeriesSet::Add(const SharedFile& file) {
  for (int i = 0; i < file->points_size(); ++i) {
    const PlacedPoint point = {.file = file, .index = i};
    const SeriesSummary& of = point.get().series();
    const Key key = KeyOf(of);
    Series& series = series_[key];
    if (series.points.empty()) {
      series.summary = of;
      // No name has a zero.
      series.summary.set_id(
          HashOf(absl::StrCat(of.test(), absl::string_view("\0", 1), of.rpc(),
                              absl::string_view("\0", 1), of.metric())));
      series.summary.set_points(0);
      series.summary.set_changes(0);
      keys_[series.summary.id()] = key;
    }
    series.points[PlaceOf(point)] = point;
    series.summary.set_points(series.summary.points() +
                              point.get().point().has_value());
    ++series.generation;
  }
}

void SeriesSet::Remove(const SharedFile& file) {
  for (int i = 0; i < file->points_size(); ++i) {
    const PlacedPoint point = {.file = file, .index = i};
    const auto entry = series_.find(KeyOf(point.get().series()));
    Series& series = entry->second;
    series.points.erase(PlaceOf(point));
    series.summary.set_points(series.summary.points() -
                              point.get().point().has_value());
    ++series.generation;
    if (!series.points.empty()) continue;
    keys_.erase(series.summary.id());
    series_.erase(entry);
  }
}

int SeriesSet::FamilySizeOf(const std::string& test) const {
  int size = 0;
  for (auto series = series_.lower_bound({test, "", ""});
       series != series_.end() && std::get<0>(series->first) == test;
       ++series) {
    size += series->second.summary.points() >= int64_t{kMinJudgedPoints};
  }
  return std::max(1, size);
}

bool SeriesSet::IsJudged(const Series& series, int family_size) {
  return series.judged_generation == series.generation &&
         series.judged_family_size == family_size;
}

absl::StatusOr<SeriesSnapshot> SeriesSet::Find(int64_t id) const {
  const auto key = keys_.find(id);
  if (key == keys_.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no series ", id,
                     "; list the series again, because its results are gone"));
  }
  const Series& series = series_.at(key->second);
  SeriesSnapshot snapshot = {.summary = series.summary,
                             .points = {},
                             .judged = nullptr,
                             .family_size = FamilySizeOf(series.summary.test()),
                             .generation = series.generation};
  if (IsJudged(series, snapshot.family_size)) {
    snapshot.judged = series.judged;
    return snapshot;
  }
  size_t values = 0;
  for (auto point = series.points.rbegin();
       point != series.points.rend() && values < kMaxJudgedPoints; ++point) {
    values += point->second.get().point().has_value();
    snapshot.points.push_back(point->second);
  }
  std::reverse(snapshot.points.begin(), snapshot.points.end());
  return snapshot;
}

void SeriesSet::Keep(const SeriesSnapshot& snapshot, SharedTrend trend) {
  const auto key = keys_.find(snapshot.summary.id());
  if (key == keys_.end()) return;
  Series& series = series_.at(key->second);
  if (series.generation != snapshot.generation) return;
  series.judged = std::move(trend);
  series.judged_generation = snapshot.generation;
  series.judged_family_size = snapshot.family_size;
}

std::vector<int64_t> SeriesSet::Unjudged() const {
  std::vector<int64_t> ids;
  std::string test;
  int family_size = 0;
  for (const auto& [key, series] : series_) {
    if (family_size == 0 || std::get<0>(key) != test) {
      test = std::get<0>(key);
      family_size = FamilySizeOf(test);
    }
    if (!IsJudged(series, family_size)) ids.push_back(series.summary.id());
  }
  return ids;
}

SeriesList SeriesSet::List(const std::string& test, const std::string& rpc,
                           int limit, const ResultNotes& notes) const {
  SeriesList list;
  for (const auto& [key, series] : series_) {
    if (list.series_size() == limit) break;
    if (!test.empty() && test != std::get<0>(key)) continue;
    if (!rpc.empty() && rpc != std::get<1>(key)) continue;
    SeriesSummary& summary = *list.add_series();
    summary = series.summary;
    if (series.judged != nullptr) CountChanges(*series.judged, notes, summary);
  }
  return list;
}

Trend MakeTrend(const SeriesSnapshot& snapshot) {
  Trend trend;
  *trend.mutable_series() = snapshot.summary;
  std::vector<PlacedPoint> judged;
  std::vector<double> values;
  int64_t left_out = 0;
  for (const PlacedPoint& point : snapshot.points) {
    left_out += point.get().left_out();
    if (!point.get().point().has_value()) continue;
    judged.push_back(point);
    values.push_back(point.get().point().value());
    *trend.add_points() = point.get().point();
    trend.mutable_points()->rbegin()->set_accepted(false);
  }
  trend.set_left_out(left_out);
  trend.set_error(
      judged.size() >= kMinJudgedPoints
          ? ""
          : absl::StrCat("a trend needs at least ", kMinJudgedPoints,
                         " valid results; there are ", judged.size()));
  AddJudgement(FindChanges(values, snapshot.family_size), judged, trend);
  return trend;
}

void AddAcceptance(const ResultNotes& notes, Trend& trend) {
  CountChanges(trend, notes, *trend.mutable_series());
  for (TrendChange& change : *trend.mutable_changes()) {
    change.set_accepted(IsAccepted(change, trend, notes));
  }
  for (TrendPoint& point : *trend.mutable_points()) {
    point.set_accepted(IsAccepted(point, notes));
  }
}

}  // namespace distbench::history
