#include "distbench/products/history/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/index_queries.h"

namespace distbench::history {
namespace {

// Changes with every change of kSchema, and of what is measured of a result.
constexpr int kSchemaVersion = 6;

// "dbhi", where SQLite's format has a number for applications.
constexpr int kApplicationId = 0x64626869;
constexpr absl::string_view kApplicationBytes = "dbhi";
constexpr size_t kApplicationOffset = 68;
constexpr absl::string_view kMagic("SQLite format 3\0", 16);

// For positions see FirstPosition(), for filters and words ResultFilter. Words
// have an index of their first letters: without it, a search for one letter
// reads the lists of all words that begin with it.
//
// A point without a value is a result that is left out of its series. Facts of
// the environment are shared, because few of them ever change.
constexpr char kSchema[] = R"(
CREATE TABLE files(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
  modified INTEGER NOT NULL, problem TEXT NOT NULL);
CREATE INDEX files_by_problem ON files(name) WHERE problem <> '';
CREATE TABLE environments(id INTEGER PRIMARY KEY, facts TEXT NOT NULL UNIQUE);
CREATE TABLE results(
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  file INTEGER NOT NULL, run_id TEXT NOT NULL, test TEXT NOT NULL,
  label TEXT NOT NULL, started INTEGER NOT NULL, duration REAL NOT NULL,
  verdict TEXT NOT NULL, hosts TEXT NOT NULL, attributes TEXT NOT NULL,
  metrics TEXT NOT NULL, environment INTEGER NOT NULL);
CREATE INDEX results_by_file ON results(file);
CREATE TABLE filters(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL,
  results INTEGER NOT NULL, UNIQUE(name, value));
CREATE VIRTUAL TABLE words USING fts5(
  text, filters, prefix='1 2 3');
CREATE TABLE series(
  id INTEGER PRIMARY KEY, test TEXT NOT NULL, rpc TEXT NOT NULL,
  metric TEXT NOT NULL, unit TEXT NOT NULL, higher_is_better INTEGER NOT NULL,
  value_count INTEGER NOT NULL, judged_with INTEGER NOT NULL,
  changes TEXT NOT NULL,
  UNIQUE(test, rpc, metric));
CREATE TABLE points(
  series INTEGER, position INTEGER, value REAL, low REAL, high REAL,
  PRIMARY KEY(series, position)) WITHOUT ROWID;
)";

enum class FileKind { kNone, kIndex, kOther };

absl::StatusOr<FileKind> KindOf(const std::string& path) {
  const base::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return FileKind::kNone;
  char bytes[kApplicationOffset + kApplicationBytes.size()];
  const ssize_t size =
      file.is_open() ? read(file.get(), bytes, sizeof(bytes)) : -1;
  if (size < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (size == 0) return FileKind::kNone;
  const absl::string_view head(bytes, size);
  return head.substr(0, kMagic.size()) == kMagic &&
                 head.size() == sizeof(bytes) &&
                 head.substr(kApplicationOffset) == kApplicationBytes
             ? FileKind::kIndex
             : FileKind::kOther;
}

absl::Status MakeSchema(Database& database) {
  return database.Execute(
      absl::StrCat("PRAGMA application_id=", kApplicationId, ";",
                   "PRAGMA user_version=", kSchemaVersion, ";", kSchema));
}

// Makes the tables unless they are there. OUT_OF_RANGE if they are of another
// version.
absl::Status Prepare(Database& database) {
  // What is lost by a crash of the host is indexed again.
  absl::Status status = database.Execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
      "PRAGMA cache_size=-32768");
  if (!status.ok()) return status;
  Transaction transaction(database);
  if (!transaction.status().ok()) return transaction.status();
  Statement version = database.Prepare("PRAGMA user_version");
  const bool has_version = version.Next();
  if (!version.status().ok()) return version.status();
  const int64_t found = has_version ? version.Int(0) : 0;
  if (found == kSchemaVersion) return transaction.Commit();
  if (found != 0) return absl::OutOfRangeError("another version");
  version = database.Prepare("SELECT 1");  // ends the pragma
  if (status = MakeSchema(database); !status.ok()) return status;
  return transaction.Commit();
}

absl::StatusOr<std::unique_ptr<Database>> OpenOnce(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(path);
  if (!database.ok()) return database;
  absl::Status status = Prepare(**database);
  if (!status.ok()) return status;
  return database;
}

absl::Status Named(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("cannot keep the index of results in ", path,
                                   ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> OpenIndexFile(
    const std::string& path) {
  if (!path.empty()) {
    const absl::StatusOr<FileKind> kind = KindOf(path);
    if (!kind.ok()) return kind.status();
    if (*kind == FileKind::kOther) {
      return absl::FailedPreconditionError(
          absl::StrCat(path,
                       " is not an index of results; name another file, "
                       "or remove it if a crash has damaged it"));
    }
  }
  absl::StatusOr<std::unique_ptr<Database>> database = OpenOnce(path);
  if (absl::IsDataLoss(database.status()) ||
      absl::IsOutOfRange(database.status())) {
    return ReplaceIndexFile(path);
  }
  if (!database.ok()) return Named(path, database.status());
  return database;
}

int64_t FirstPosition(int64_t started_ms) {
  constexpr int64_t kMaxMs = int64_t{1} << 42;
  return std::clamp(started_ms, -kMaxMs, kMaxMs) * kPositionsPerMs;
}

absl::StatusOr<std::unique_ptr<Database>> ReplaceIndexFile(
    const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    if (!path.empty()) unlink(absl::StrCat(path, suffix).c_str());
  }
  absl::StatusOr<std::unique_ptr<Database>> database = OpenOnce(path);
  if (!database.ok()) return Named(path, database.status());
  return database;
}

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
