#include "distbench/products/history/database.h"

#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"

namespace distbench::history {
namespace {

constexpr int kBusyTimeoutMs = 5000;

absl::Status StatusOf(sqlite3* database, int code) {
  const std::string message = absl::StrCat(
      database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database));
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(message);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::PermissionDeniedError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::Check(int code) {
  if (code != SQLITE_OK && status_.ok()) status_ = StatusOf(database_, code);
}

Statement& Statement::Bind(int64_t value) {
  if (status_.ok()) {
    Check(sqlite3_bind_int64(statement_.get(), ++bound_, value));
  }
  return *this;
}

Statement& Statement::Bind(double value) {
  if (status_.ok()) {
    Check(sqlite3_bind_double(statement_.get(), ++bound_, value));
  }
  return *this;
}

Statement& Statement::Bind(const std::optional<double>& value) {
  if (value) return Bind(*value);
  if (status_.ok()) Check(sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

Statement& Statement::Bind(absl::string_view value) {
  if (status_.ok()) {
    Check(sqlite3_bind_text64(statement_.get(), ++bound_, value.data(),
                              value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  return *this;
}

bool Statement::Next() {
  if (!status_.ok()) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) Check(code);
  return false;
}

absl::Status Statement::Run() {
  while (Next()) {
  }
  if (statement_ != nullptr) sqlite3_reset(statement_.get());
  bound_ = 0;
  return status_;
}

int64_t Statement::Int(int column) const {
  return status_.ok() ? sqlite3_column_int64(statement_.get(), column) : 0;
}

double Statement::Real(int column) const {
  return status_.ok() ? sqlite3_column_double(statement_.get(), column) : 0;
}

std::optional<double> Statement::OptionalReal(int column) const {
  if (!status_.ok() ||
      sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) {
    return std::nullopt;
  }
  return Real(column);
}

std::string Statement::Text(int column) const {
  if (!status_.ok()) return "";
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text),
                     sqlite3_column_bytes(statement_.get(), column));
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      path.empty() ? ":memory:" : path.c_str(), &raw,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  auto database = absl::WrapUnique(new Database(path, raw));
  if (code != SQLITE_OK) return StatusOf(raw, code);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return database;
}

void Database::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

Statement Database::Prepare(absl::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(),
                         static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(
      database_.get(), statement,
      code == SQLITE_OK ? absl::OkStatus() : StatusOf(database_.get(), code));
}

absl::Status Database::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : StatusOf(database_.get(), code);
}

int64_t Database::LastInsertedId() const {
  return sqlite3_last_insert_rowid(database_.get());
}

Transaction::Transaction(Database& database)
    : database_(database),
      status_(database.Execute("BEGIN IMMEDIATE")),
      is_open_(status_.ok()) {}

Transaction::~Transaction() {
  if (is_open_) database_.Execute("ROLLBACK").IgnoreError();
}

absl::Status Transaction::Commit() {
  if (!is_open_) return status_;
  absl::Status committed = database_.Execute("COMMIT");
  if (committed.ok()) is_open_ = false;
  return committed;
}

namespace {

using SortedJson = nlohmann::json;

template <typename Value>
std::string Dump(const Value& value) {
  return base::DumpJson(SortedJson(value));
}

template <typename Value>
Value Load(const std::string& text) {
  const SortedJson json =
      SortedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    return json.get<Value>();
  } catch (const SortedJson::exception&) {
    return {};
  }
}

}  // namespace

std::string StoredJson(const std::set<std::string>& list) { return Dump(list); }

std::string StoredJson(const std::map<std::string, std::string>& texts) {
  return Dump(texts);
}

std::string StoredJson(const std::map<std::string, double>& numbers) {
  return Dump(numbers);
}

std::vector<std::string> StoredList(const std::string& json) {
  return Load<std::vector<std::string>>(json);
}

std::map<std::string, std::string> StoredTexts(const std::string& json) {
  return Load<std::map<std::string, std::string>>(json);
}

std::map<std::string, double> StoredNumbers(const std::string& json) {
  return Load<std::map<std::string, double>>(json);
}

}  // namespace distbench::history
