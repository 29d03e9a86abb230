// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/series.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/digest.h"
#include "distbench/products/history/trends/change_points.h"

namespace distbench::history {
namespace {

std::pair<int64_t, std::string> PlaceOf(const PlacedPoint& point) {
  return {point.get().point().started(), point.file->name()};
}

bool IsAccepted(const TrendPoint& point, const ResultNotes& notes) {
  return std::any_of(
      point.runs().begin(), point.runs().end(),
      [&](const std::string& id) { return notes.Find(id).accepted(); });
}

bool IsAccepted(const TrendChange& change, const Trend& trend,
                const ResultNotes& notes) {
  const auto index = static_cast<int>(change.index());
  const int last = std::min(trend.points_size() - 1, index + kNearbyPoints);
  for (int i = std::max(0, index - kNearbyPoints); i <= last; ++i) {
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

const auto& FactsOf(const PlacedPoint& point) {
  return point.file->tests(point.get().first_test()).facts();
}

// Adds the facts that differ between two points, by name.
void AddFacts(const PlacedPoint& before, const PlacedPoint& after, int distance,
              TrendChange& change) {
  using Sides = std::pair<absl::string_view, absl::string_view>;
  std::map<absl::string_view, Sides> facts;
  for (const auto& [name, value] : FactsOf(before)) facts[name].first = value;
  for (const auto& [name, value] : FactsOf(after)) facts[name].second = value;
  for (const auto& [name, sides] : facts) {
    if (sides.first == sides.second) continue;
    ChangedFact& fact = *change.add_facts();
    fact.set_name(std::string(name));
    fact.set_before(std::string(sides.first));
    fact.set_after(std::string(sides.second));
    fact.set_distance(distance);
  }
}

void AddFacts(const std::vector<PlacedPoint>& points, TrendChange& change) {
  const auto add = [&](int distance) {
    const int64_t index = change.index() + distance;
    if (index < 1 || index >= static_cast<int64_t>(points.size())) return;
    AddFacts(points[index - 1], points[index], distance, change);
  };
  add(0);
  for (int distance = 1; distance <= kNearbyPoints; ++distance) {
    add(-distance);
    add(distance);
  }
}

// A number that stays the same for the names, and that JavaScript can hold.
int64_t IdOf(const SeriesSummary& of) {
  constexpr absl::string_view kSeparator("\0", 1);  // no name has it
  constexpr int kBytes = 6;
  const std::string digest = base::Sha256(
      absl::StrCat(of.test(), kSeparator, of.rpc(), kSeparator, of.metric()));
  int64_t id = 0;
  for (const unsigned char byte : digest.substr(0, kBytes)) id = id << 8 | byte;
  return id;
}

void AddPoints(const std::vector<PlacedPoint>& points, Trend& trend) {
  std::set<std::string> kinds;
  for (const PlacedPoint& placed : points) {
    const int before = trend.points_size() - 1;
    TrendPoint& point = *trend.add_points();
    point = placed.get().point();
    point.set_traffic_changed(before >= 0 && trend.points(before).traffic() !=
                                                 point.traffic());
    kinds.insert(point.traffic());
  }
  trend.set_traffic_kinds(static_cast<int64_t>(kinds.size()));
}

// The values between two changes of the traffic.
std::vector<std::vector<double>> PartsOf(const Trend& trend) {
  std::vector<std::vector<double>> parts;
  for (const TrendPoint& point : trend.points()) {
    if (parts.empty() || point.traffic_changed()) parts.emplace_back();
    parts.back().push_back(point.value());
  }
  return parts;
}

// Adds what was found in the part that begins with this point.
void AddJudged(Trend part, int64_t first, Trend& trend) {
  for (TrendSegment& segment : *part.mutable_segments()) {
    segment.set_first(first + segment.first());
    segment.set_last(first + segment.last());
    *trend.add_segments() = std::move(segment);
  }
  for (TrendChange& change : *part.mutable_changes()) {
    change.set_index(first + change.index());
    *trend.add_changes() = std::move(change);
  }
}

std::string WhyNotJudged(const std::vector<std::vector<double>>& parts) {
  size_t most = 0;
  for (const std::vector<double>& part : parts) {
    most = std::max(most, part.size());
  }
  return absl::StrCat(
      "a trend needs at least ", kMinJudgedPoints, " valid results",
      parts.size() > 1 ? " in a row with the same traffic; there are at most "
                       : "; there are ",
      most);
}

}  // namespace

void SeriesSet::Change(const SharedFile& file, bool is_added) {
  for (int i = 0; i < file->points_size(); ++i) {
    const PlacedPoint point = {.file = file, .index = i};
    const SeriesSummary& of = point.get().series();
    auto [entry, is_new] = series_.try_emplace(KeyOf(of));
    auto& [summary, points, judged, generation] = entry->second;
    if (is_new) {
      summary = of;
      summary.set_id(IdOf(of));
      summary.set_points(0);
      summary.set_changes(0);
    }
    if (is_added) {
      points[PlaceOf(point)] = point;
    } else {
      points.erase(PlaceOf(point));
    }
    const int valid = point.get().point().has_value() ? 1 : 0;
    summary.set_points(summary.points() + (is_added ? valid : -valid));
    ++generations_[of.test()];
    if (points.empty()) series_.erase(entry);
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

bool SeriesSet::IsJudged(const Series& series) const {
  return series.judged_generation == generations_.at(series.summary.test());
}

absl::StatusOr<SeriesSnapshot> SeriesSet::Find(int64_t id) const {
  const auto found = std::find_if(
      series_.begin(), series_.end(),
      [&](const auto& entry) { return entry.second.summary.id() == id; });
  if (found == series_.end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no series ", id,
                     "; list the series again, because its results are gone"));
  }
  const Series& series = found->second;
  const std::string& test = series.summary.test();
  SeriesSnapshot snapshot = {.summary = series.summary,
                             .points = {},
                             .judged = nullptr,
                             .family_size = FamilySizeOf(test),
                             .generation = generations_.at(test)};
  if (IsJudged(series)) {
    snapshot.judged = series.judged;
    return snapshot;
  }
  for (auto place = series.points.rbegin();
       place != series.points.rend() &&
       snapshot.points.size() < kMaxJudgedPoints;
       ++place) {
    const FilePoint& point = place->second.get();
    snapshot.left_out += point.left_out();
    if (point.point().has_value()) snapshot.points.push_back(place->second);
  }
  std::reverse(snapshot.points.begin(), snapshot.points.end());
  return snapshot;
}

void SeriesSet::Keep(const SeriesSnapshot& snapshot, SharedTrend trend) {
  const auto found = series_.find(KeyOf(snapshot.summary));
  if (found == series_.end()) return;
  if (generations_.at(snapshot.summary.test()) != snapshot.generation) return;
  found->second.judged = std::move(trend);
  found->second.judged_generation = snapshot.generation;
}

std::vector<int64_t> SeriesSet::Unjudged() const {
  std::vector<int64_t> ids;
  for (const auto& [key, series] : series_) {
    if (!IsJudged(series)) ids.push_back(series.summary.id());
  }
  return ids;
}

SeriesList SeriesSet::List(const std::string& test, const std::string& rpc,
                           const ResultNotes& notes) const {
  SeriesList list;
  for (const auto& [key, series] : series_) {
    if (list.series_size() == kMaxSeries) break;
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
  AddPoints(snapshot.points, trend);
  const std::vector<std::vector<double>> parts = PartsOf(trend);
  const auto is_judged = [](const auto& part) {
    return part.size() >= kMinJudgedPoints;
  };
  // A new result changes the last part, and may take the place of one in the
  // first: the looks at the others find what they found.
  const auto judged = absl::c_count_if(parts, is_judged);
  const int changing = judged > 1 ? 2 : 1;
  int64_t first = 0;
  for (const std::vector<double>& part : parts) {
    AddJudged(FindChanges(part, changing * snapshot.family_size), first, trend);
    first += static_cast<int64_t>(part.size());
  }
  for (TrendChange& change : *trend.mutable_changes()) {
    const auto index = static_cast<int>(change.index());
    change.set_started(trend.points(index).started());
    AddFacts(snapshot.points, change);
  }
  trend.set_left_out(snapshot.left_out);
  trend.set_error(judged > 0 ? "" : WhyNotJudged(parts));
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
