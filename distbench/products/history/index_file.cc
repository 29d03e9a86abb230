// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <initializer_list>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"

namespace distbench::history {
namespace {

// Changes with every change of the table, of IndexedFile, and of what is
// measured.
constexpr absl::string_view kVersion = "8";

// "dbhi", where SQLite's format has a number for applications.
constexpr int kApplicationId = 0x64626869;
constexpr absl::string_view kApplicationBytes = "dbhi";
constexpr size_t kApplicationOffset = 68;
constexpr absl::string_view kMagic("SQLite format 3\0", 16);

constexpr int kBusyTimeoutMs = 5000;

// An error if the file is there and no index.
absl::Status CheckKind(const std::string& path) {
  const base::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return absl::OkStatus();
  char bytes[kApplicationOffset + kApplicationBytes.size()];
  const ssize_t size =
      file.is_open() ? read(file.get(), bytes, sizeof(bytes)) : -1;
  if (size < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  const absl::string_view head(bytes, size);
  if (head.empty() || (head.size() == sizeof(bytes) &&
                       head.substr(0, kMagic.size()) == kMagic &&
                       head.substr(kApplicationOffset) == kApplicationBytes)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path,
                   " is not an index of results; name another file, or remove "
                   "it if a crash has damaged it"));
}

absl::Status ErrorOf(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database) & 0xff;
  const bool is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return absl::Status(
      is_damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable,
      absl::StrCat("cannot keep the index of results in ", path, ": ",
                   sqlite3_errmsg(database)));
}

// Executes a statement with these values in place of its parameters. Returns
// the first column.
absl::StatusOr<std::vector<std::string>> Run(
    sqlite3* database, const std::string& path, absl::string_view sql,
    std::initializer_list<absl::string_view> values = {}) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database, sql.data(),
                                static_cast<int>(sql.size()), &statement,
                                /*pzTail=*/nullptr);
  int parameter = 0;
  for (const absl::string_view value : values) {
    if (code != SQLITE_OK) break;
    code = sqlite3_bind_blob64(statement, ++parameter, value.data(),
                               value.size(), SQLITE_STATIC);
  }
  std::vector<std::string> column;
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    const auto* cell =
        static_cast<const char*>(sqlite3_column_blob(statement, 0));
    column.emplace_back(cell == nullptr ? "" : cell,
                        sqlite3_column_bytes(statement, 0));
  }
  absl::Status status;
  if (code != SQLITE_DONE) status = ErrorOf(database, path);
  sqlite3_finalize(statement);
  if (!status.ok()) return status;
  return column;
}

absl::Status Prepare(sqlite3* database, const std::string& path) {
  // The application first, while it is still written to the file itself: later
  // starts look for it there. What a crash of the host loses of the rest is
  // measured again.
  for (const std::string& sql :
       {absl::StrCat("PRAGMA application_id=", kApplicationId),
        absl::StrCat("PRAGMA user_version=", kVersion),
        std::string("CREATE TABLE IF NOT EXISTS files(name BLOB PRIMARY KEY, "
                    "contents BLOB NOT NULL) WITHOUT ROWID"),
        std::string("PRAGMA journal_mode=WAL"),
        std::string("PRAGMA synchronous=NORMAL")}) {
    absl::Status status = Run(database, path, sql).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

void IndexFile::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

IndexFile::IndexFile(std::string path, Database database)
    : path_(std::move(path)), database_(std::move(database)) {}

absl::StatusOr<std::unique_ptr<IndexFile>> IndexFile::OpenOnce(
    const std::string& path, std::vector<IndexedFile>& files) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &raw,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      /*zVfs=*/nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return ErrorOf(raw, path);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  const auto version = Run(raw, path, "PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (version->front() != "0" && version->front() != kVersion) {
    return absl::DataLossError("another version");
  }
  absl::Status status = Prepare(raw, path);
  if (!status.ok()) return status;
  const auto contents = Run(raw, path, "SELECT contents FROM files");
  if (!contents.ok()) return contents.status();
  for (const std::string& bytes : *contents) {
    if (!files.emplace_back().ParseFromString(bytes)) {
      return absl::DataLossError("damaged contents");
    }
  }
  return absl::WrapUnique(new IndexFile(path, std::move(database)));
}

absl::StatusOr<std::unique_ptr<IndexFile>> IndexFile::Open(
    const std::string& path, std::vector<IndexedFile>& files) {
  if (absl::Status status = CheckKind(path); !status.ok()) return status;
  auto file = OpenOnce(path, files);
  if (!absl::IsDataLoss(file.status())) return file;
  files.clear();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    unlink(absl::StrCat(path, suffix).c_str());
  }
  return OpenOnce(path, files);
}

absl::Status IndexFile::Put(const IndexedFile& file) {
  return Run(database_.get(), path_,
             "INSERT OR REPLACE INTO files VALUES(?, ?)",
             {file.name(), file.SerializeAsString()})
      .status();
}

absl::Status IndexFile::Remove(const std::string& name) {
  return Run(database_.get(), path_, "DELETE FROM files WHERE name = ?", {name})
      .status();
}

}  // namespace distbench::history
