#include "distbench/products/history/index_queries.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/products/history/index_file.h"
#include "distbench/products/history/result_filters.h"
#include "distbench/products/history/stored_json.h"

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

}  // namespace distbench::history
