#include "distbench/products/history/index_queries.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/index_file.h"

namespace distbench::history {
namespace {

constexpr absl::string_view kResultColumns =
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
std::vector<std::string> TermsOf(absl::string_view search) {
  std::vector<std::string> terms;
  for (const absl::string_view word :
       absl::StrSplit(search, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    bool has_letter = false;
    for (const unsigned char c : word) {
      has_letter |= absl::ascii_isalnum(c) || c >= 0x80;
    }
    if (!has_letter) continue;
    const std::string text = absl::StrReplaceAll(
        word, {{"\"", "\"\""}, {absl::string_view("\0", 1), ""}});
    terms.push_back(absl::StrCat("text : \"", text, "\"*"));
  }
  return terms;
}

// What selects a query's results.
struct Selection {
  bool is_empty = false;  // nothing can be found
  std::string match;      // of the full text; empty if that is not asked
  int64_t first_position = std::numeric_limits<int64_t>::min();
  int64_t end_position = std::numeric_limits<int64_t>::max();
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

absl::StatusOr<Selection> SelectionOf(const ResultQuery& query,
                                      const Database& database) {
  std::vector<std::string> hosts;
  if (!query.host.empty()) hosts.push_back(query.host);
  std::vector<std::string> terms = TermsOf(query.search);
  Selection selection;
  for (const ResultFilter& filter :
       FiltersOf(query.test, query.label, hosts, query.attributes)) {
    const absl::StatusOr<std::string> word = WordOf(filter, database);
    if (!word.ok()) return word.status();
    selection.is_empty |= word->empty();
    terms.push_back(absl::StrCat("filters : \"", *word, "\""));
  }
  selection.match = absl::StrJoin(terms, " ");
  if (query.after_ms) selection.first_position = FirstPosition(*query.after_ms);
  if (query.before_ms) selection.end_position = FirstPosition(*query.before_ms);
  return selection;
}

// The positions of the selected results, newest first, as SQL with three
// parameters at most.
std::string PositionsOf(const Selection& selection, int64_t limit) {
  if (selection.match.empty()) {
    return absl::StrCat(
        "SELECT position FROM results WHERE position >= ? AND position < ? "
        "ORDER BY position DESC LIMIT ",
        limit);
  }
  return absl::StrCat(
      "SELECT rowid AS position FROM words WHERE rowid >= ? AND rowid < ? "
      "AND words MATCH ? ORDER BY rowid DESC LIMIT ",
      limit);
}

// Prepares a statement that has PositionsOf() in it.
Statement Prepare(const std::string& sql, const Selection& selection,
                  const Database& database) {
  Statement statement = database.Prepare(sql);
  statement.Bind(selection.first_position).Bind(selection.end_position);
  if (!selection.match.empty()) statement.Bind(selection.match);
  return statement;
}

Statement Count(const Selection& selection, int64_t limit,
                const Database& database) {
  return Prepare(absl::StrCat("SELECT COUNT(*) FROM (",
                              PositionsOf(selection, limit), ")"),
                 selection, database);
}

Statement Rows(const Selection& selection, int64_t limit,
               const Database& database) {
  return Prepare(absl::StrCat("SELECT ", kResultColumns, " FROM (",
                              PositionsOf(selection, limit),
                              ") AS selected CROSS JOIN results r "
                              "ON r.position = selected.position CROSS JOIN "
                              "files f ON f.id = r.file "
                              "ORDER BY r.position DESC"),
                 selection, database);
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

}  // namespace

absl::StatusOr<ResultPage> ListResults(const ResultQuery& query,
                                       const Database& database) {
  if (absl::Status status = Check(query); !status.ok()) return status;
  absl::StatusOr<Selection> selection = SelectionOf(query, database);
  if (!selection.ok()) return selection.status();
  ResultPage page;
  if (selection->is_empty) return page;
  Statement count = Count(*selection, kMaxCounted + 1, database);
  if (count.Next()) page.total = count.Int(0);
  if (!count.status().ok()) return count.status();
  page.is_total_least = page.total > kMaxCounted;
  if (page.is_total_least) page.total = kMaxCounted;
  int64_t cursor = 0;
  if (absl::SimpleAtoi(query.cursor, &cursor)) {
    selection->end_position = std::min(selection->end_position, cursor);
  }
  Statement rows = Rows(*selection, query.limit + 1, database);
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
      absl::StrCat("SELECT ", kResultColumns,
                   " FROM results r JOIN files f ON f.id = r.file "
                   "WHERE r.id = ?"));
  if (row.Bind(result_id).Next()) return ResultOf(row);
  if (!row.status().ok()) return row.status();
  return absl::NotFoundError(
      absl::StrCat("there is no result ", result_id,
                   "; it may have been removed, or its file renamed"));
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

namespace {

constexpr char kTest[] = "test";
constexpr char kLabel[] = "label";
constexpr char kHost[] = "host";
constexpr absl::string_view kAttribute = "attribute ";

std::string WordOf(int64_t id) { return absl::StrCat("f", id); }

// The first name after this one; empty if there is none.
absl::StatusOr<std::string> NameAfter(const std::string& name,
                                      const Database& database) {
  Statement row =
      database.Prepare("SELECT min(name) FROM filters WHERE name > ?");
  if (!row.Bind(name).Next()) return row.status();
  return row.Text(0);
}

// Values other than the empty one, and one more than kMaxFilterValues.
absl::StatusOr<std::vector<std::string>> ValuesOf(const std::string& name,
                                                  const Database& database) {
  Statement row = database.Prepare(
      absl::StrCat("SELECT value FROM filters WHERE name = ? AND value > '' "
                   "ORDER BY value LIMIT ",
                   kMaxFilterValues + 1));
  row.Bind(name);
  std::vector<std::string> values;
  while (row.Next()) values.push_back(row.Text(0));
  if (!row.status().ok()) return row.status();
  return values;
}

// Where the values of a filter belong; null if there are too many attributes.
std::vector<std::string>* PlaceOf(absl::string_view name,
                                  FilterValues& filters) {
  if (name == kTest) return &filters.tests;
  if (name == kLabel) return &filters.labels;
  if (name == kHost) return &filters.hosts;
  if (filters.attributes.size() == kMaxFilterValues) return nullptr;
  return &filters.attributes[std::string(absl::StripPrefix(name, kAttribute))];
}

}  // namespace

std::vector<ResultFilter> FiltersOf(
    const std::string& test, const std::string& label,
    const std::vector<std::string>& hosts,
    const std::map<std::string, std::string>& attributes) {
  std::vector<ResultFilter> filters;
  if (!test.empty()) filters.push_back({kTest, test});
  if (!label.empty()) filters.push_back({kLabel, label});
  for (const std::string& host : hosts) filters.push_back({kHost, host});
  for (const auto& [name, value] : attributes) {
    filters.push_back({absl::StrCat(kAttribute, name), value});
  }
  return filters;
}

absl::StatusOr<std::string> AddToFilters(
    const std::vector<ResultFilter>& filters, Database& database) {
  Statement add = database.Prepare(
      "INSERT INTO filters(name, value, results) VALUES(?, ?, 1) "
      "ON CONFLICT(name, value) DO UPDATE SET results = results + 1 "
      "RETURNING id");
  std::string words;
  for (const ResultFilter& filter : filters) {
    add.Bind(filter.name).Bind(filter.value).Next();
    absl::StrAppend(&words, WordOf(add.Int(0)), " ");
    if (absl::Status status = add.Run(); !status.ok()) return status;
  }
  return words;
}

absl::Status RemoveFromFilters(const std::vector<ResultFilter>& filters,
                               Database& database) {
  Statement subtract = database.Prepare(
      "UPDATE filters SET results = results - 1 WHERE name = ? AND value = ?");
  Statement remove = database.Prepare(
      "DELETE FROM filters WHERE name = ? AND value = ? AND results = 0");
  for (const ResultFilter& filter : filters) {
    for (Statement* const statement : {&subtract, &remove}) {
      absl::Status status =
          statement->Bind(filter.name).Bind(filter.value).Run();
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WordOf(const ResultFilter& filter,
                                   const Database& database) {
  Statement row =
      database.Prepare("SELECT id FROM filters WHERE name = ? AND value = ?");
  const bool is_found = row.Bind(filter.name).Bind(filter.value).Next();
  if (!row.status().ok()) return row.status();
  return is_found ? WordOf(row.Int(0)) : "";
}

absl::StatusOr<FilterValues> ListFilters(const Database& database) {
  FilterValues filters;
  std::string name;
  while (true) {
    absl::StatusOr<std::string> next = NameAfter(name, database);
    if (!next.ok()) return next.status();
    if (next->empty()) return filters;
    name = *std::move(next);
    absl::StatusOr<std::vector<std::string>> values = ValuesOf(name, database);
    if (!values.ok()) return values.status();
    if (values->size() > kMaxFilterValues) {
      filters.is_truncated = true;
      values->resize(kMaxFilterValues);
    }
    std::vector<std::string>* const place = PlaceOf(name, filters);
    if (place == nullptr) {
      filters.is_truncated = true;
    } else {
      *place = *std::move(values);
    }
  }
}

}  // namespace distbench::history
