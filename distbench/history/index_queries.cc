#include "distbench/history/index_queries.h"

#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/history/stored_json.h"

namespace distbench {
namespace {

constexpr absl::string_view kColumns =
    "r.position, r.id, f.name, r.run_id, r.test, r.label, r.started, "
    "r.duration, r.verdict, r.hosts, r.attributes, r.metrics";

IndexedResult ResultOf(const Statement& row) {
  return {.id = row.Text(1),
          .file = row.Text(2),
          .run_id = row.Text(3),
          .test = row.Text(4),
          .label = row.Text(5),
          .started_ms = row.Int(6),
          .duration_seconds = row.Real(7),
          .verdict = row.Text(8),
          .hosts = StoredList(row.Text(9)),
          .attributes = StoredTexts(row.Text(10)),
          .metrics = StoredNumbers(row.Text(11)),
          .is_accepted = false,
          .note = ""};
}

// Each word as the beginning of a word of the text. Quoted, nothing has a
// meaning of its own; words without letters and digits find nothing, and are
// left out.
std::string MatchOf(absl::string_view search) {
  std::vector<std::string> words;
  for (const absl::string_view word :
       absl::StrSplit(search, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    bool has_letter = false;
    for (const unsigned char c : word) {
      has_letter |= absl::ascii_isalnum(c) || c >= 0x80;
    }
    if (!has_letter) continue;
    const std::string text = absl::StrReplaceAll(
        word, {{"\"", "\"\""}, {absl::string_view("\0", 1), ""}});
    words.push_back(absl::StrCat("\"", text, "\"*"));
  }
  return absl::StrJoin(words, " ");
}

// A query's tables and conditions, with the values of their parameters. The
// first table is the one that selects best; it gives the results in the order
// of their positions.
class Selection {
 public:
  explicit Selection(const ResultQuery& query) {
    const std::string match = MatchOf(query.search);
    if (!match.empty()) {
      From("words", "words", "rowid");
      Where("words MATCH ?", match);
    }
    int number = 0;
    for (const auto& [name, value] : query.attributes) {
      const std::string table = absl::StrCat("a", ++number);
      From("attributes", table, "position");
      Where(absl::StrCat(table, ".name = ?"), name);
      Where(absl::StrCat(table, ".value = ?"), value);
    }
    if (!query.host.empty()) {
      From("hosts", "hosts", "position");
      Where("hosts.host = ?", query.host);
    }
    if (tables_.empty()) {
      tables_ = "results r";
      position_ = "r.position";
    } else {
      absl::StrAppend(&tables_,
                      " CROSS JOIN results r ON r.position = ", position_);
    }
    if (!query.test.empty()) Where("r.test = ?", query.test);
    if (!query.label.empty()) Where("r.label = ?", query.label);
    if (query.after_ms) Where("r.started >= ?", *query.after_ms);
    if (query.before_ms) Where("r.started < ?", *query.before_ms);
  }

  // Only results before this position.
  void Before(int64_t position) {
    Where(absl::StrCat(position_, " < ?"), position);
  }

  Statement Rows(const Database& database, int64_t limit) const {
    return Bound(database, absl::StrCat("SELECT ", kColumns, " FROM ", tables_,
                                        " CROSS JOIN files f ON f.id = r.file",
                                        Conditions(), " ORDER BY ", position_,
                                        " DESC LIMIT ", limit));
  }

  Statement Count(const Database& database, int64_t limit) const {
    return Bound(database,
                 absl::StrCat("SELECT COUNT(*) FROM (SELECT 1 FROM ", tables_,
                              Conditions(), " LIMIT ", limit, ")"));
  }

 private:
  using Value = std::variant<int64_t, std::string>;

  // Adds a table of this name, joined with those before it by its column of
  // positions.
  void From(absl::string_view table, absl::string_view name,
            absl::string_view column) {
    const std::string position = absl::StrCat(name, ".", column);
    absl::StrAppend(&tables_, tables_.empty() ? "" : " CROSS JOIN ", table,
                    " AS ", name);
    if (position_.empty()) {
      position_ = position;
    } else {
      conditions_.push_back(absl::StrCat(position, " = ", position_));
    }
  }

  void Where(absl::string_view condition, Value value) {
    conditions_.emplace_back(condition);
    values_.push_back(std::move(value));
  }

  std::string Conditions() const {
    return conditions_.empty()
               ? ""
               : absl::StrCat(" WHERE ", absl::StrJoin(conditions_, " AND "));
  }

  Statement Bound(const Database& database, const std::string& sql) const {
    Statement statement = database.Prepare(sql);
    for (const Value& value : values_) {
      std::visit([&](const auto& v) { statement.Bind(v); }, value);
    }
    return statement;
  }

  std::string tables_;
  std::string position_;  // the column that is ordered by
  std::vector<std::string> conditions_;
  std::vector<Value> values_;
};

// One more word or attribute costs one more search, while which the index
// answers nothing else.
absl::Status CheckSize(const ResultQuery& query) {
  const std::vector<absl::string_view> words = absl::StrSplit(
      query.search, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (words.size() > kMaxSearchTerms ||
      query.attributes.size() > kMaxSearchTerms) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: there may be ", kMaxSearchTerms,
                     " words, and as many attributes"));
  }
  return absl::OkStatus();
}

absl::Status Check(const ResultQuery& query) {
  if (query.limit < 1 || query.limit > kMaxPageSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "limit: ", query.limit, " is not between 1 and ", kMaxPageSize));
  }
  int64_t position = 0;
  if (!query.cursor.empty() && !absl::SimpleAtoi(query.cursor, &position)) {
    return absl::InvalidArgumentError(
        "cursor: this is not the \"next\" of another page");
  }
  return CheckSize(query);
}

// The different values of a column that is the first of an index, by one search
// in the index for each.
absl::StatusOr<std::vector<std::string>> DistinctValues(
    const Database& database, absl::string_view table, absl::string_view column,
    absl::string_view condition, const std::vector<std::string>& values) {
  const std::string least = absl::StrCat("SELECT min(", column, ") FROM ",
                                         table, " WHERE ", condition);
  Statement statement = database.Prepare(
      absl::StrCat("WITH RECURSIVE v(x) AS (", least, " UNION ALL SELECT (",
                   least, " AND ", column,
                   " > v.x) FROM v WHERE v.x IS NOT NULL) "
                   "SELECT x FROM v WHERE x IS NOT NULL LIMIT ",
                   kMaxFilterValues + 1));
  for (int i = 0; i < 2; ++i) {
    for (const std::string& value : values) statement.Bind(value);
  }
  std::vector<std::string> found;
  while (statement.Next()) {
    std::string value = statement.Text(0);
    if (!value.empty()) found.push_back(std::move(value));
  }
  if (!statement.status().ok()) return statement.status();
  return found;
}

// Collects values for filters, until there is an error.
class FilterCollector {
 public:
  explicit FilterCollector(const Database& database) : database_(database) {}

  std::vector<std::string> Values(
      absl::string_view table, absl::string_view column,
      absl::string_view condition = "1",
      const std::vector<std::string>& parameters = {}) {
    if (!status_.ok()) return {};
    absl::StatusOr<std::vector<std::string>> values =
        DistinctValues(database_, table, column, condition, parameters);
    if (!values.ok()) {
      status_ = values.status();
      return {};
    }
    if (values->size() > kMaxFilterValues) {
      is_truncated_ = true;
      values->resize(kMaxFilterValues);
    }
    return *std::move(values);
  }

  const absl::Status& status() const { return status_; }
  bool is_truncated() const { return is_truncated_; }

 private:
  const Database& database_;
  absl::Status status_;
  bool is_truncated_ = false;
};

}  // namespace

absl::StatusOr<ResultPage> ListResults(const ResultQuery& query,
                                       const Database& database) {
  if (absl::Status status = Check(query); !status.ok()) return status;
  Selection selection(query);
  ResultPage page;
  Statement count = selection.Count(database, kMaxCounted + 1);
  if (count.Next()) page.total = count.Int(0);
  if (!count.status().ok()) return count.status();
  page.is_total_least = page.total > kMaxCounted;
  if (page.is_total_least) page.total = kMaxCounted;
  int64_t cursor = 0;
  if (absl::SimpleAtoi(query.cursor, &cursor)) selection.Before(cursor);
  Statement rows = selection.Rows(database, query.limit + 1);
  int64_t last_position = 0;
  while (rows.Next()) {
    if (static_cast<int>(page.results.size()) == query.limit) {
      page.next = absl::StrCat(last_position);
      break;
    }
    last_position = rows.Int(0);
    page.results.push_back(ResultOf(rows));
  }
  if (!rows.status().ok()) return rows.status();
  return page;
}

absl::StatusOr<IndexedResult> FindResult(const std::string& result_id,
                                         const Database& database) {
  Statement row = database.Prepare(
      absl::StrCat("SELECT ", kColumns,
                   " FROM results r JOIN files f ON f.id = r.file "
                   "WHERE r.id = ?"));
  if (row.Bind(result_id).Next()) return ResultOf(row);
  if (!row.status().ok()) return row.status();
  return absl::NotFoundError(
      absl::StrCat("there is no result ", result_id,
                   "; it may have been removed, or its file renamed"));
}

absl::StatusOr<FilterValues> ListFilters(const Database& database) {
  FilterCollector collector(database);
  FilterValues filters;
  filters.tests = collector.Values("results", "test");
  filters.labels = collector.Values("results", "label");
  filters.hosts = collector.Values("hosts", "host");
  for (const std::string& name : collector.Values("attributes", "name")) {
    filters.attributes[name] =
        collector.Values("attributes", "value", "name = ?", {name});
  }
  filters.is_truncated = collector.is_truncated();
  if (!collector.status().ok()) return collector.status();
  return filters;
}

absl::StatusOr<std::vector<FileProblem>> ListProblems(
    const Database& database) {
  Statement row = database.Prepare(
      "SELECT name, problem FROM files WHERE problem <> '' ORDER BY name");
  std::vector<FileProblem> problems;
  while (row.Next()) {
    problems.push_back({.file = row.Text(0), .problem = row.Text(1)});
  }
  if (!row.status().ok()) return row.status();
  return problems;
}

}  // namespace distbench
