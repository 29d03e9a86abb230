#include "distbench/products/history/index_writer.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/index_file.h"
#include "distbench/products/history/result_filters.h"
#include "distbench/products/history/stored_json.h"

namespace distbench::history {
namespace {

// The first position of the time that has no result yet.
absl::StatusOr<int64_t> FreePosition(int64_t started_ms, Database& database) {
  const int64_t first = FirstPosition(started_ms);
  Statement last = database.Prepare(
      "SELECT max(position) FROM results WHERE position >= ? AND position < ?");
  last.Bind(first).Bind(first + kPositionsPerMs);
  const bool is_taken = last.Next() && last.OptionalReal(0).has_value();
  if (!last.status().ok()) return last.status();
  return is_taken ? last.Int(0) + 1 : first;
}

absl::StatusOr<int64_t> EnvironmentOf(const MeasuredTest& test,
                                      Database& database) {
  const std::string facts = StoredJson(test.facts);
  Statement insert =
      database.Prepare("INSERT OR IGNORE INTO environments(facts) VALUES(?)");
  if (absl::Status status = insert.Bind(facts).Run(); !status.ok()) {
    return status;
  }
  Statement find =
      database.Prepare("SELECT id FROM environments WHERE facts = ?");
  if (!find.Bind(facts).Next()) return find.status();
  return find.Int(0);
}

// What the search for words finds.
std::string WordsOf(const MeasuredFile& file, const MeasuredTest& test) {
  std::string words = absl::StrCat(file.label, "\n", test.name, "\n",
                                   file.entry.name, "\n", file.run_id);
  for (const auto& [name, value] : test.attributes) {
    absl::StrAppend(&words, "\n", name, " ", value);
  }
  for (const std::string& host : test.hosts) {
    absl::StrAppend(&words, "\n", host);
  }
  return words;
}

absl::StatusOr<int64_t> SeriesOf(const MeasuredTest& test,
                                 const MeasuredMetric& metric,
                                 Database& database) {
  Statement insert = database.Prepare(
      "INSERT INTO series(test, rpc, metric, unit, higher_is_better, "
      "value_count, judged_with, changes) VALUES(?, ?, ?, ?, ?, ?, 0, '[]') "
      "ON CONFLICT(test, rpc, metric) DO UPDATE SET judged_with = 0, "
      "value_count = value_count + excluded.value_count RETURNING id");
  insert.Bind(test.name)
      .Bind(metric.rpc)
      .Bind(metric.metric)
      .Bind(metric.unit)
      .Bind(int64_t{metric.higher_is_better})
      .Bind(int64_t{metric.value.has_value()})
      .Next();
  const int64_t id = insert.Int(0);
  if (absl::Status status = insert.Run(); !status.ok()) return status;
  return id;
}

absl::Status StorePoints(const MeasuredTest& test, int64_t position,
                         Database& database) {
  Statement insert = database.Prepare(
      "INSERT OR REPLACE INTO points(series, position, value, low, high) "
      "VALUES(?, ?, ?, ?, ?)");
  for (const MeasuredMetric& metric : test.metrics) {
    const absl::StatusOr<int64_t> series = SeriesOf(test, metric, database);
    if (!series.ok()) return series.status();
    absl::Status status = insert.Bind(*series)
                              .Bind(position)
                              .Bind(metric.value)
                              .Bind(metric.low)
                              .Bind(metric.high)
                              .Run();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Hosts and attributes are read as RemoveTest() reads them.
absl::Status StoreWords(const MeasuredFile& file, const MeasuredTest& test,
                        int64_t position, Database& database) {
  const absl::StatusOr<std::string> filters = AddToFilters(
      FiltersOf(test.name, file.label, StoredList(StoredJson(test.hosts)),
                StoredTexts(StoredJson(test.attributes))),
      database);
  if (!filters.ok()) return filters.status();
  return database
      .Prepare("INSERT INTO words(rowid, text, filters) VALUES(?, ?, ?)")
      .Bind(position)
      .Bind(WordsOf(file, test))
      .Bind(*filters)
      .Run();
}

absl::Status StoreTest(const MeasuredFile& file, int64_t file_id,
                       int test_index, Database& database) {
  const MeasuredTest& test = file.tests[test_index];
  const absl::StatusOr<int64_t> position =
      FreePosition(test.started_ms, database);
  if (!position.ok()) return position.status();
  const absl::StatusOr<int64_t> environment = EnvironmentOf(test, database);
  if (!environment.ok()) return environment.status();
  absl::Status status =
      database
          .Prepare(
              "INSERT INTO results VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
              "?, ?, ?)")
          .Bind(*position)
          .Bind(ResultId(file.entry.name, test_index))
          .Bind(file_id)
          .Bind(file.run_id)
          .Bind(test.name)
          .Bind(file.label)
          .Bind(test.started_ms)
          .Bind(test.duration_seconds)
          .Bind(test.verdict)
          .Bind(StoredJson(test.hosts))
          .Bind(StoredJson(test.attributes))
          .Bind(StoredJson(test.headline))
          .Bind(*environment)
          .Run();
  if (status.ok()) status = StoreWords(file, test, *position, database);
  if (status.ok()) status = StorePoints(test, *position, database);
  return status;
}

struct StoredTest {
  int64_t position;
  std::string test;
  std::string label;
  std::string hosts;
  std::string attributes;
};

absl::StatusOr<std::vector<StoredTest>> TestsOf(const std::string& name,
                                                Database& database) {
  Statement find = database.Prepare(
      "SELECT position, test, label, hosts, attributes FROM results "
      "WHERE file = (SELECT id FROM files WHERE name = ?)");
  find.Bind(name);
  std::vector<StoredTest> tests;
  while (find.Next()) {
    tests.push_back({.position = find.Int(0),
                     .test = find.Text(1),
                     .label = find.Text(2),
                     .hosts = find.Text(3),
                     .attributes = find.Text(4)});
  }
  if (!find.status().ok()) return find.status();
  return tests;
}

// Series that have no points left go with them.
absl::Status RemovePoints(const StoredTest& test, Database& database) {
  absl::Status status =
      database
          .Prepare(
              "UPDATE series SET judged_with = 0, value_count = value_count - "
              "(SELECT COUNT(value) FROM points WHERE series = series.id AND "
              "position = ?) WHERE test = ?")
          .Bind(test.position)
          .Bind(test.test)
          .Run();
  if (!status.ok()) return status;
  status = database
               .Prepare(
                   "DELETE FROM points WHERE position = ? AND series IN "
                   "(SELECT id FROM series WHERE test = ?)")
               .Bind(test.position)
               .Bind(test.test)
               .Run();
  if (!status.ok()) return status;
  return database
      .Prepare(
          "DELETE FROM series WHERE test = ? AND NOT EXISTS "
          "(SELECT 1 FROM points WHERE series = series.id)")
      .Bind(test.test)
      .Run();
}

absl::Status RemoveTest(const StoredTest& test, Database& database) {
  for (const char* table : {"results WHERE position", "words WHERE rowid"}) {
    absl::Status status =
        database.Prepare(absl::StrCat("DELETE FROM ", table, " = ?"))
            .Bind(test.position)
            .Run();
    if (!status.ok()) return status;
  }
  absl::Status status =
      RemoveFromFilters(FiltersOf(test.test, test.label, StoredList(test.hosts),
                                  StoredTexts(test.attributes)),
                        database);
  if (!status.ok()) return status;
  return RemovePoints(test, database);
}

// Within a transaction.
absl::Status RemoveNow(const std::string& name, Database& database) {
  const absl::StatusOr<std::vector<StoredTest>> tests = TestsOf(name, database);
  if (!tests.ok()) return tests.status();
  for (const StoredTest& test : *tests) {
    if (absl::Status status = RemoveTest(test, database); !status.ok()) {
      return status;
    }
  }
  return database.Prepare("DELETE FROM files WHERE name = ?").Bind(name).Run();
}

absl::Status StoreNow(const MeasuredFile& file, Database& database) {
  absl::Status status = RemoveNow(file.entry.name, database);
  if (!status.ok()) return status;
  status = database
               .Prepare(
                   "INSERT INTO files(name, size, modified, problem) "
                   "VALUES(?, ?, ?, ?)")
               .Bind(file.entry.name)
               .Bind(file.entry.size_bytes)
               .Bind(file.entry.modified_ns)
               .Bind(file.problem)
               .Run();
  const int64_t file_id = database.LastInsertedId();
  for (size_t i = 0; status.ok() && i < file.tests.size(); ++i) {
    status = StoreTest(file, file_id, static_cast<int>(i), database);
  }
  return status;
}

}  // namespace

std::string ResultId(const std::string& file, int test_index) {
  constexpr size_t kBytes = 8;
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(file.data()), file.size(),
         digest);
  return absl::StrCat(absl::BytesToHexString(absl::string_view(
                          reinterpret_cast<const char*>(digest), kBytes)),
                      "-", test_index);
}

absl::StatusOr<std::map<std::string, ResultEntry>> IndexedFiles(
    Database& database) {
  std::map<std::string, ResultEntry> files;
  Statement find = database.Prepare("SELECT name, size, modified FROM files");
  while (find.Next()) {
    const std::string name = find.Text(0);
    files[name] = {
        .name = name, .size_bytes = find.Int(1), .modified_ns = find.Int(2)};
  }
  if (!find.status().ok()) return find.status();
  return files;
}

absl::Status StoreFile(const MeasuredFile& file, Database& database) {
  Transaction transaction(database);
  if (!transaction.status().ok()) return transaction.status();
  absl::Status status = StoreNow(file, database);
  return status.ok() ? transaction.Commit() : status;
}

absl::Status RemoveFile(const std::string& name, Database& database) {
  Transaction transaction(database);
  if (!transaction.status().ok()) return transaction.status();
  absl::Status status = RemoveNow(name, database);
  return status.ok() ? transaction.Commit() : status;
}

}  // namespace distbench::history
