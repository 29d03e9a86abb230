#include "distbench/products/history/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench::history {
namespace {

// Changes with every change of kSchema, and of what is measured of a result.
constexpr int kSchemaVersion = 3;

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

}  // namespace distbench::history
