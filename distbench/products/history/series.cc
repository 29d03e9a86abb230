#include "distbench/products/history/series.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::history {
namespace {

using SortedJson = nlohmann::json;

std::string ToText(const std::vector<StoredChange>& changes) {
  SortedJson list = SortedJson::array();
  for (const StoredChange& change : changes) {
    list.push_back({{"position", change.position},
                    {"started", change.started_ms},
                    {"p_value", change.p_value},
                    {"nearby", change.nearby}});
  }
  return list.dump();
}

std::vector<StoredChange> FromText(const std::string& text) {
  std::vector<StoredChange> changes;
  try {
    for (const SortedJson& change : SortedJson::parse(text)) {
      changes.push_back({.position = change.at("position"),
                         .started_ms = change.at("started"),
                         .p_value = change.at("p_value"),
                         .nearby = change.at("nearby")});
    }
  } catch (const SortedJson::exception&) {
    return {};
  }
  return changes;
}

constexpr absl::string_view kSeriesColumns =
    "id, test, rpc, metric, unit, higher_is_better, judged_with, changes, "
    "value_count";

// Reads series, and how many are judged together with each.
class SeriesReader {
 public:
  explicit SeriesReader(const Database& database) : database_(database) {}

  absl::StatusOr<StoredSeries> Read(const Statement& row) {
    StoredSeries series;
    SeriesSummary& summary = series.summary;
    summary.id = row.Int(0);
    summary.test = row.Text(1);
    summary.rpc = row.Text(2);
    summary.metric = row.Text(3);
    summary.unit = row.Text(4);
    summary.higher_is_better = row.Int(5) != 0;
    summary.points = row.Int(8);
    series.judged_with = static_cast<int>(row.Int(6));
    series.changes = FromText(row.Text(7));
    const absl::StatusOr<int> size = FamilySize(summary.test);
    if (!size.ok()) return size.status();
    series.family_size = *size;
    return series;
  }

 private:
  absl::StatusOr<int> FamilySize(const std::string& test) {
    const auto found = sizes_.find(test);
    if (found != sizes_.end()) return found->second;
    Statement count = database_.Prepare(
        "SELECT COUNT(*) FROM series WHERE test = ? AND value_count >= ?");
    count.Bind(test).Bind(int64_t{kMinJudgedPoints});
    if (!count.Next()) return count.status();
    return sizes_[test] = std::max(1, static_cast<int>(count.Int(0)));
  }

  const Database& database_;
  std::map<std::string, int> sizes_;
};

}  // namespace

absl::StatusOr<std::vector<StoredSeries>> ListStoredSeries(
    const std::string& test, const std::string& rpc, int limit,
    const Database& database) {
  Statement row = database.Prepare(
      absl::StrCat("SELECT ", kSeriesColumns, " FROM series",
                   test.empty() ? " WHERE ? = ''" : " WHERE test = ?",
                   rpc.empty() ? " AND ? = ''" : " AND rpc = ?",
                   " ORDER BY test, rpc, metric LIMIT ", limit));
  row.Bind(test).Bind(rpc);
  SeriesReader reader(database);
  std::vector<StoredSeries> list;
  while (row.Next()) {
    absl::StatusOr<StoredSeries> series = reader.Read(row);
    if (!series.ok()) return series.status();
    list.push_back(*std::move(series));
  }
  if (!row.status().ok()) return row.status();
  return list;
}

absl::StatusOr<StoredSeries> FindSeries(int64_t series_id,
                                        const Database& database) {
  Statement row = database.Prepare(
      absl::StrCat("SELECT ", kSeriesColumns, " FROM series WHERE id = ?"));
  if (row.Bind(series_id).Next()) return SeriesReader(database).Read(row);
  if (!row.status().ok()) return row.status();
  return absl::NotFoundError(
      absl::StrCat("there is no series ", series_id,
                   "; list the series again, because the index was made anew"));
}

absl::StatusOr<std::vector<int64_t>> SeriesOfChangedTests(
    const Database& database) {
  Statement row = database.Prepare(
      "SELECT id FROM series WHERE test IN "
      "(SELECT test FROM series WHERE judged_with = 0) ORDER BY id");
  std::vector<int64_t> ids;
  while (row.Next()) ids.push_back(row.Int(0));
  if (!row.status().ok()) return row.status();
  return ids;
}

absl::StatusOr<std::vector<StoredPoint>> PointsOf(int64_t series_id,
                                                  const Database& database) {
  Statement row = database.Prepare(absl::StrCat(
      "SELECT p.position, p.value, p.low, p.high, r.id, r.started, r.verdict, "
      "r.environment FROM points p CROSS JOIN results r "
      "ON r.position = p.position WHERE p.series = ? "
      "ORDER BY p.position DESC LIMIT ",
      kMaxJudgedPoints));
  row.Bind(series_id);
  std::vector<StoredPoint> points;
  while (row.Next()) {
    const std::optional<double> value = row.OptionalReal(1);
    points.push_back({.position = row.Int(0),
                      .is_left_out = !value,
                      .point = {.result_id = row.Text(4),
                                .started_ms = row.Int(5),
                                .value = value.value_or(0),
                                .low = row.OptionalReal(2),
                                .high = row.OptionalReal(3),
                                .is_accepted = false,
                                .verdict = row.Text(6)},
                      .environment = row.Int(7)});
  }
  if (!row.status().ok()) return row.status();
  std::reverse(points.begin(), points.end());
  return points;
}

absl::StatusOr<std::string> FactsOf(int64_t environment,
                                    const Database& database) {
  Statement row =
      database.Prepare("SELECT facts FROM environments WHERE id = ?");
  const bool is_found = row.Bind(environment).Next();
  if (!row.status().ok()) return row.status();
  return is_found ? row.Text(0) : "{}";
}

absl::Status StoreChanges(const StoredSeries& series, int64_t newest,
                          Database& database) {
  return database
      .Prepare(
          "UPDATE series SET judged_with = ?, changes = ? WHERE id = ? AND "
          "(SELECT max(position) FROM points WHERE series = series.id) "
          "= ?")
      .Bind(int64_t{series.family_size})
      .Bind(ToText(series.changes))
      .Bind(series.summary.id)
      .Bind(newest)
      .Run();
}

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
