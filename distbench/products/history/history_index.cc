// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/history_index.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <set>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "distbench/base/files.h"
#include "glog/logging.h"

namespace distbench::history {
namespace {

// Changes with every change of the table, of IndexedFile, and of what is
// measured.
constexpr absl::string_view kVersion = "12";

// What each file of SQLite begins with, and where its format has a number for
// applications: "dbhi".
constexpr absl::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kApplicationOffset = 68;
constexpr absl::string_view kApplicationBytes = "dbhi";
constexpr absl::string_view kApplicationId = "1684170857";

ResultEntry EntryOf(const IndexedFile& file) {
  return {.name = file.name(),
          .size_bytes = file.size_bytes(),
          .modified_ns = file.modified_ns()};
}

// Whether what is known of a file holds for the entry. Of other folders under
// the same names, ids differ.
bool IsCurrent(const IndexedFile& file, const ResultEntry& entry,
               const ResultSource& source) {
  return EntryOf(file) == entry &&
         (file.tests().empty() ||
          absl::StartsWith(file.tests(0).result().id(),
                           absl::StrCat(source.IdOf(entry.name), "-")));
}

// What the search for words looks at.
std::string TextOf(const IndexedResult& result) {
  return absl::AsciiStrToLower(absl::StrCat(
      result.label(), "\n", result.test(), "\n", result.file(), "\n",
      result.run_id(), "\n", absl::StrJoin(result.hosts(), "\n"), "\n",
      absl::StrJoin(result.attributes(), "\n", absl::PairFormatter(" "))));
}

bool IsSelected(const IndexedResult& result, const ResultQuery& query,
                const std::vector<std::string>& words) {
  const auto has_attribute = [&](const auto& attribute) {
    const auto found = result.attributes().find(attribute.first);
    return found != result.attributes().end() &&
           found->second == attribute.second;
  };
  const std::string text = words.empty() ? "" : TextOf(result);
  const auto has_word = [&](const std::string& word) {
    return absl::StrContains(text, word);
  };
  return (query.test.empty() || query.test == result.test()) &&
         (query.label.empty() || query.label == result.label()) &&
         (query.host.empty() ||
          absl::c_linear_search(result.hosts(), query.host)) &&
         result.started() >= query.after_ms.value_or(result.started()) &&
         (!query.before_ms || result.started() < *query.before_ms) &&
         absl::c_all_of(query.attributes, has_attribute) &&
         absl::c_all_of(words, has_word);
}

}  // namespace

absl::Status AddAttribute(const std::string& text, ResultQuery& query) {
  const size_t end = text.find('=');
  if (end == 0 || end == text.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute is \"", text, "\"; it must be NAME=VALUE"));
  }
  query.attributes.insert_or_assign(text.substr(0, end), text.substr(end + 1));
  return absl::OkStatus();
}

// ---- The index's file -------------------------------------------------------

// A table of files in SQLite, with a write-ahead log, so that several processes
// can use one. Waits up to five seconds for others that write. Errors name the
// file and say what SQLite says. Thread-compatible.
class HistoryIndex::File {
 public:
  // Opens an index, or makes it, and adds what it has to `files`. One that is
  // of another version of distbench, or damaged, is replaced by an empty one.
  // FAILED_PRECONDITION if the file is something else, which is never touched.
  static absl::StatusOr<std::unique_ptr<File>> Open(
      const std::string& path, std::vector<IndexedFile>& files);

  // Keeps what is known of a file, in place of what was known; null forgets it.
  absl::Status Replace(const std::string& name, const SharedFile& file);

 private:
  explicit File(std::string path) : path_(std::move(path)) {}

  // An error if the file is there and no index. SQLite is not asked: it changes
  // files that it opens, and cannot tell what a damaged one was.
  absl::Status CheckKind() const;

  absl::Status Load(std::vector<IndexedFile>& files);

  // Executes statements. Returns the first column of what they answer.
  absl::StatusOr<std::vector<std::string>> Run(const std::string& sql);
  absl::Status Error() const;  // of the last call of SQLite

  const std::string path_;
  std::shared_ptr<sqlite3> database_;  // closed with its last owner
};

absl::Status HistoryIndex::File::Error() const {
  const int code = sqlite3_errcode(database_.get()) & 0xff;
  const bool is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return absl::Status(
      is_damaged ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable,
      absl::StrCat("cannot keep the index of results in ", path_, ": ",
                   sqlite3_errmsg(database_.get())));
}

absl::Status HistoryIndex::File::CheckKind() const {
  const base::FileDescriptor file(
      open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return absl::OkStatus();
  char bytes[kApplicationOffset + kApplicationBytes.size()];
  const ssize_t size =
      file.is_open() ? read(file.get(), bytes, sizeof(bytes)) : -1;
  if (size < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path_));
  }
  const absl::string_view head(bytes, size);
  if (head.empty() ||
      (head.size() == sizeof(bytes) && absl::StartsWith(head, kMagic) &&
       absl::EndsWith(head, kApplicationBytes))) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(path_,
                   " is not an index of results; name another file, or remove "
                   "it if a crash has damaged it"));
}

absl::StatusOr<std::vector<std::string>> HistoryIndex::File::Run(
    const std::string& sql) {
  std::vector<std::string> column;
  const auto keep = [](void* to, int /*count*/, char** cells,
                       char** /*names*/) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(cells[0]);
    return 0;
  };
  if (sqlite3_exec(database_.get(), sql.c_str(), keep, &column,
                   /*errmsg=*/nullptr) != SQLITE_OK) {
    return Error();
  }
  return column;
}

absl::Status HistoryIndex::File::Load(std::vector<IndexedFile>& files) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(path_.c_str(), &opened);
  database_.reset(opened, sqlite3_close);
  if (code != SQLITE_OK) return Error();
  sqlite3_busy_timeout(opened, /*ms=*/5000);
  const auto version = Run("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (version->front() != "0" && version->front() != kVersion) {
    return absl::DataLossError("another version");
  }
  // At once, for others that open it. What a crash of the host loses without
  // further waiting is measured again. Names and contents are hexadecimal
  // literals, which can contain any byte and no SQL.
  const auto contents = Run(absl::StrCat(
      "BEGIN IMMEDIATE; PRAGMA application_id=", kApplicationId,
      "; PRAGMA user_version=", kVersion,
      "; CREATE TABLE IF NOT EXISTS files(name BLOB PRIMARY KEY, contents BLOB "
      "NOT NULL) WITHOUT ROWID; COMMIT; PRAGMA synchronous=NORMAL; "
      "SELECT hex(contents) FROM files"));
  if (!contents.ok()) return contents.status();
  for (const std::string& bytes : *contents) {
    if (!files.emplace_back().ParseFromString(absl::HexStringToBytes(bytes))) {
      return absl::DataLossError("damaged contents");
    }
  }
  return Run("PRAGMA journal_mode=WAL").status();
}

absl::StatusOr<std::unique_ptr<HistoryIndex::File>> HistoryIndex::File::Open(
    const std::string& path, std::vector<IndexedFile>& files) {
  auto file = absl::WrapUnique(new File(path));
  absl::Status status = file->CheckKind();
  if (!status.ok()) return status;
  status = file->Load(files);
  if (absl::IsDataLoss(status)) {
    file->database_.reset();
    files.clear();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      unlink(absl::StrCat(path, suffix).c_str());
    }
    status = file->Load(files);
  }
  if (!status.ok()) return status;
  return file;
}

absl::Status HistoryIndex::File::Replace(const std::string& name,
                                         const SharedFile& file) {
  std::string sql = absl::StrCat("DELETE FROM files WHERE name = X'",
                                 absl::BytesToHexString(name), "'");
  if (file != nullptr) {
    sql = absl::StrCat("INSERT OR REPLACE INTO files VALUES(X'",
                       absl::BytesToHexString(name), "', X'",
                       absl::BytesToHexString(file->SerializeAsString()), "')");
  }
  return Run(sql).status();
}

// ---- The index --------------------------------------------------------------

absl::StatusOr<std::unique_ptr<HistoryIndex>> HistoryIndex::Open(
    const HistoryOptions& options) {
  auto index = absl::WrapUnique(new HistoryIndex(options));
  if (!options.index_path.empty()) {
    std::vector<IndexedFile> files;
    auto file = File::Open(options.index_path, files);
    if (!file.ok()) return file.status();
    for (IndexedFile& known : files) {
      auto shared = std::make_shared<const IndexedFile>(std::move(known));
      index->Replace(shared->name(), shared);
    }
    index->file_ = *std::move(file);
  }
  absl::Status status = index->notes_.Refresh();
  if (!status.ok()) return status;
  return index;
}

void HistoryIndex::Replace(const std::string& name, const SharedFile& file) {
  if (file_ != nullptr) {
    if (const absl::Status kept = file_->Replace(name, file); !kept.ok()) {
      LOG(WARNING) << kept.message()
                   << "; results are read again after the next start";
      file_.reset();
    }
  }
  const absl::MutexLock lock(&mutex_);
  if (const auto known = files_.find(name); known != files_.end()) {
    for (const IndexedTest& test : known->second->tests()) {
      results_.erase({test.result().started(), test.result().id()});
    }
    series_.Remove(known->second);
    files_.erase(known);
  }
  if (file == nullptr) return;
  files_[name] = file;
  for (const IndexedTest& test : file->tests()) {
    results_[{test.result().started(), test.result().id()}] =
        std::shared_ptr<const IndexedResult>(file, &test.result());
  }
  series_.Add(file);
}

absl::Status HistoryIndex::Synchronise(const ResultSource& source,
                                       const std::vector<ResultEntry>& entries,
                                       absl::FunctionRef<bool()> should_stop) {
  if (absl::Status status = notes_.Refresh(); !status.ok()) return status;
  const std::map<std::string, SharedFile> files = [this] {
    const absl::MutexLock lock(&mutex_);
    return files_;
  }();
  // What is gone first: reading takes long, and may be stopped.
  std::map<std::string, SharedFile> gone = files;
  for (const ResultEntry& entry : entries) gone.erase(entry.name);
  for (const auto& [name, file] : gone) Replace(name, nullptr);
  for (const ResultEntry& entry : entries) {
    const auto known = files.find(entry.name);
    if (known != files.end() && IsCurrent(*known->second, entry, source)) {
      continue;
    }
    if (should_stop()) break;
    absl::StatusOr<KeptResults> kept = source.Read(entry.name, kMaxFileBytes);
    if (absl::IsUnavailable(kept.status()) || !source.IsUnchanged(entry)) {
      continue;
    }
    Replace(entry.name, std::make_shared<const IndexedFile>(MeasureFile(
                            entry, source.IdOf(entry.name), std::move(kept))));
  }
  return absl::OkStatus();
}

void HistoryIndex::Judge(absl::FunctionRef<bool()> should_stop) {
  const std::vector<int64_t> ids = [this] {
    const absl::MutexLock lock(&mutex_);
    return series_.Unjudged();
  }();
  for (const int64_t id : ids) {
    if (should_stop()) return;
    // It may have been removed meanwhile.
    JudgeSeries(id).status().IgnoreError();
  }
}

absl::StatusOr<SharedTrend> HistoryIndex::JudgeSeries(int64_t series_id) {
  const absl::StatusOr<SeriesSnapshot> snapshot = [&] {
    const absl::MutexLock lock(&mutex_);
    return series_.Find(series_id);
  }();
  if (!snapshot.ok()) return snapshot.status();
  if (snapshot->judged != nullptr) return snapshot->judged;
  const auto trend = std::make_shared<const Trend>(MakeTrend(*snapshot));
  const absl::MutexLock lock(&mutex_);
  series_.Keep(*snapshot, trend);
  return trend;
}

absl::StatusOr<ResultPage> HistoryIndex::List(const ResultQuery& query) const {
  if (query.limit < 1 || query.limit > kMaxPageSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "limit: ", query.limit, " is not between 1 and ", kMaxPageSize));
  }
  Place last = {0, ""};
  const std::pair<std::string, std::string> cursor =
      absl::StrSplit(query.cursor, absl::MaxSplits(':', 1));
  if (!query.cursor.empty() && !absl::SimpleAtoi(cursor.first, &last.first)) {
    return absl::InvalidArgumentError(
        "cursor: this is not the \"next\" of another page");
  }
  last.second = cursor.second;
  const std::vector<std::string> words =
      absl::StrSplit(absl::AsciiStrToLower(query.search),
                     absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (words.size() > kMaxSearchTerms ||
      query.attributes.size() > kMaxSearchTerms) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: there may be ", kMaxSearchTerms,
                     " words, and as many attributes"));
  }
  ResultPage page;
  int64_t total = 0;
  bool has_more = false;
  // Those on the page of which no older result of the test was met yet.
  std::map<absl::string_view, IndexedResult*> newest;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, result] : results_) {
    if (const auto next = newest.find(result->test()); next != newest.end()) {
      next->second->set_traffic_changed(next->second->traffic() !=
                                        result->traffic());
      newest.erase(next);
    }
    if (!IsSelected(*result, query, words)) continue;
    ++total;
    if (!query.cursor.empty() && place >= last) continue;
    has_more = page.results_size() == query.limit;
    if (has_more) continue;
    IndexedResult& listed = *page.add_results();
    listed = WithNote(*result);
    listed.set_traffic_changed(false);
    newest[result->test()] = &listed;
  }
  page.set_total(total);
  if (has_more) {
    const IndexedResult& shown = *page.results().rbegin();
    page.set_next(absl::StrCat(shown.started(), ":", shown.id()));
  }
  return page;
}

absl::StatusOr<IndexedResult> HistoryIndex::Find(
    const std::string& result_id) const {
  const std::string end = absl::StrCat(".", result_id);
  std::vector<std::shared_ptr<const IndexedResult>> others;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, result] : results_) {
    if (place.second == result_id) return WithNote(*result);
    if (absl::EndsWith(place.second, end)) others.push_back(result);
  }
  if (others.size() == 1) return WithNote(*others.front());
  if (others.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no result ", result_id,
                     "; it may have been removed, or its file renamed",
                     absl::StrContains(result_id, '.')
                         ? ", or its folder is not among those given"
                         : ""));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "several folders have a result ", result_id, "; name one of ",
      absl::StrJoin(others, ", ", [](std::string* out, const auto& other) {
        absl::StrAppend(out, other->id(), " (", other->file(), ")");
      })));
}

IndexedResult HistoryIndex::WithNote(IndexedResult result) const {
  const ResultNote note = notes_.Find(result.id());
  result.set_accepted(note.accepted());
  result.set_note(note.note());
  return result;
}

FilterValues HistoryIndex::Filters() const {
  // Attributes that tell almost every result from the others, as derived
  // numbers do, would have lists as long as that of the results.
  constexpr size_t kManyValues = 5;
  constexpr size_t kMinResultsOfValue = 4;  // on average
  FilterValues filters;
  std::map<std::string, size_t> results_with;  // by attribute
  const auto add = [&](std::set<std::string>& values,
                       const std::string& value) {
    if (value.empty() || values.contains(value)) return;
    filters.is_truncated |= values.size() == kMaxFilterValues;
    if (values.size() < kMaxFilterValues) values.insert(value);
  };
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, result] : results_) {
    add(filters.tests, result->test());
    add(filters.labels, result->label());
    for (const std::string& host : result->hosts()) add(filters.hosts, host);
    for (const auto& [name, value] : result->attributes()) {
      add(filters.attributes[name], value);
      ++results_with[name];
    }
  }
  std::erase_if(filters.attributes, [&](const auto& attribute) {
    const auto& [name, values] = attribute;
    return values.size() >= kManyValues &&
           values.size() * kMinResultsOfValue > results_with[name];
  });
  return filters;
}

FileProblems HistoryIndex::Problems() const {
  FileProblems problems;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [name, file] : files_) {
    if (file->problem().empty()) continue;
    FileProblem& problem = *problems.add_files();
    problem.set_file(name);
    problem.set_problem(file->problem());
  }
  return problems;
}

SeriesList HistoryIndex::ListSeries(const std::string& test,
                                    const std::string& rpc) const {
  const absl::MutexLock lock(&mutex_);
  return series_.List(test, rpc, notes_);
}

absl::StatusOr<Trend> HistoryIndex::TrendOf(int64_t series_id) {
  const absl::StatusOr<SharedTrend> judged = JudgeSeries(series_id);
  if (!judged.ok()) return judged.status();
  Trend trend = **judged;
  AddAcceptance(notes_, trend);
  return trend;
}

absl::Status HistoryIndex::SetNote(const std::string& result_id,
                                   const std::string& text) {
  const absl::StatusOr<IndexedResult> found = Find(result_id);
  return found.ok() ? notes_.SetText(found->id(), text) : found.status();
}

absl::Status HistoryIndex::SetAccepted(const std::string& result_id,
                                       bool is_accepted) {
  const absl::StatusOr<IndexedResult> found = Find(result_id);
  return found.ok() ? notes_.SetAccepted(found->id(), is_accepted)
                    : found.status();
}

}  // namespace distbench::history
