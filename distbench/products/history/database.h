// SQLite, with owners for its objects and absl::Status for its errors.

#ifndef DISTBENCH_PRODUCTS_HISTORY_DATABASE_H_
#define DISTBENCH_PRODUCTS_HISTORY_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace distbench::history {

// A query, with its parameters and its current row. Must not outlive its
// Database. An error of a statement stays: later calls return it, and columns
// are empty. So it suffices to check status() at the end of a loop over rows.
class Statement {
 public:
  // Give values to the parameters, in their order.
  Statement& Bind(int64_t value);
  Statement& Bind(double value);
  Statement& Bind(const std::optional<double>& value);
  Statement& Bind(absl::string_view value);

  // Moves to the next row. Returns false after the last, or if there is an
  // error.
  bool Next();

  // For statements without rows: executes it, and makes it ready to be bound
  // and executed again.
  absl::Status Run();

  const absl::Status& status() const { return status_; }

  // Columns of the current row, from 0.
  int64_t Int(int column) const;
  double Real(int column) const;
  std::optional<double> OptionalReal(int column) const;
  std::string Text(int column) const;

 private:
  friend class Database;

  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  Statement(sqlite3* database, sqlite3_stmt* statement, absl::Status status)
      : database_(database),
        statement_(statement),
        status_(std::move(status)) {}

  void Check(int code);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  absl::Status status_;
  int bound_ = 0;
};

// A connection. Thread-compatible.
class Database {
 public:
  // An empty path means a database in memory. Waits up to five seconds for
  // other processes that write.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Errors say what SQLite says: DATA_LOSS if the file is damaged, or no
  // database; RESOURCE_EXHAUSTED if the disk is full; UNAVAILABLE if another
  // process writes for too long; otherwise INTERNAL.
  Statement Prepare(absl::string_view sql) const;

  // Executes statements without parameters and rows, separated by semicolons.
  absl::Status Execute(const std::string& sql);

  int64_t LastInsertedId() const;

  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };

  Database(std::string path, sqlite3* database)
      : path_(std::move(path)), database_(database) {}

  const std::string path_;
  const std::unique_ptr<sqlite3, Closer> database_;
};

// Begins a transaction, which is undone unless it is committed.
class Transaction {
 public:
  // Writers exclude each other from here on.
  explicit Transaction(Database& database);
  ~Transaction();

  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const absl::Status& status() const { return status_; }
  absl::Status Commit();

 private:
  Database& database_;
  absl::Status status_;
  bool is_open_;
};

// Small lists and maps as the text of one column. Text that is not UTF-8 is
// made so, everywhere alike.

std::string StoredJson(const std::set<std::string>& list);
std::string StoredJson(const std::map<std::string, std::string>& texts);
std::string StoredJson(const std::map<std::string, double>& numbers);

// Empty if the text is not what was stored.
std::vector<std::string> StoredList(const std::string& json);
std::map<std::string, std::string> StoredTexts(const std::string& json);
std::map<std::string, double> StoredNumbers(const std::string& json);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_DATABASE_H_
