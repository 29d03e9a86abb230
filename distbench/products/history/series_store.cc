#include "distbench/products/history/series_store.h"

#include <map>
#include <nlohmann/json.hpp>
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

}  // namespace distbench::history
