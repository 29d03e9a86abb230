// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/history_index.h"

#include <algorithm>
#include <set>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/products/history/measured_file.h"
#include "glog/logging.h"

namespace distbench::history {
namespace {

ResultEntry EntryOf(const IndexedFile& file) {
  return {.name = file.name(),
          .size_bytes = file.size_bytes(),
          .modified_ns = file.modified_ns()};
}

std::vector<std::string> WordsOf(const std::string& search) {
  return absl::StrSplit(absl::AsciiStrToLower(search),
                        absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

// What the search for words looks at.
std::string TextOf(const IndexedResult& result) {
  std::string text = absl::StrCat(result.label(), "\n", result.test(), "\n",
                                  result.file(), "\n", result.run_id());
  for (const auto& [name, value] : result.attributes()) {
    absl::StrAppend(&text, "\n", name, " ", value);
  }
  for (const std::string& host : result.hosts()) {
    absl::StrAppend(&text, "\n", host);
  }
  return absl::AsciiStrToLower(text);
}

bool HasWords(const IndexedResult& result,
              const std::vector<std::string>& words) {
  if (words.empty()) return true;
  const std::string text = TextOf(result);
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return absl::StrContains(text, word);
  });
}

bool IsSelected(const IndexedResult& result, const ResultQuery& query) {
  const auto has_attribute = [&](const auto& attribute) {
    const auto found = result.attributes().find(attribute.first);
    return found != result.attributes().end() &&
           found->second == attribute.second;
  };
  const auto& hosts = result.hosts();
  return (query.test.empty() || query.test == result.test()) &&
         (query.label.empty() || query.label == result.label()) &&
         (query.host.empty() ||
          std::find(hosts.begin(), hosts.end(), query.host) != hosts.end()) &&
         result.started() >= query.after_ms.value_or(result.started()) &&
         (!query.before_ms || result.started() < *query.before_ms) &&
         std::all_of(query.attributes.begin(), query.attributes.end(),
                     has_attribute);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HistoryIndex>> HistoryIndex::Open(
    const HistoryOptions& options) {
  auto index = absl::WrapUnique(new HistoryIndex(options));
  if (!options.index_path.empty()) {
    std::vector<IndexedFile> files;
    auto file = IndexFile::Open(options.index_path, files);
    if (!file.ok()) return file.status();
    index->file_ = *std::move(file);
    for (IndexedFile& known : files) index->Add(std::move(known));
  }
  absl::Status status = index->notes_.Refresh();
  if (!status.ok()) return status;
  return index;
}

void HistoryIndex::Add(IndexedFile file) {
  const absl::MutexLock lock(&mutex_);
  Remove(file.name());
  const auto shared = std::make_shared<const IndexedFile>(std::move(file));
  files_[shared->name()] = shared;
  for (int i = 0; i < shared->tests_size(); ++i) {
    const PlacedResult result = {.file = shared, .index = i};
    results_[{result.get().started(), result.get().id()}] = result;
  }
  series_.Add(shared);
}

void HistoryIndex::Remove(const std::string& name) {
  const auto file = files_.find(name);
  if (file == files_.end()) return;
  for (const IndexedTest& test : file->second->tests()) {
    results_.erase({test.result().started(), test.result().id()});
  }
  series_.Remove(file->second);
  files_.erase(file);
}

void HistoryIndex::CheckFile(const absl::Status& status) {
  if (status.ok()) return;
  LOG(WARNING) << status.message()
               << "; results are read again after the next start";
  file_.reset();
}

std::vector<ResultEntry> HistoryIndex::TakeChanges(
    const std::vector<ResultEntry>& entries, SyncOutcome& outcome) {
  std::vector<ResultEntry> changed;
  std::set<std::string> gone;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, file] : files_) gone.insert(name);
    for (const ResultEntry& entry : entries) {
      gone.erase(entry.name);
      const auto known = files_.find(entry.name);
      if (known == files_.end() || EntryOf(*known->second) != entry) {
        changed.push_back(entry);
      }
    }
    for (const std::string& name : gone) Remove(name);
  }
  for (const std::string& name : gone) {
    if (file_ != nullptr) CheckFile(file_->Remove(name));
  }
  outcome.removed_files = static_cast<int64_t>(gone.size());
  return changed;
}

absl::StatusOr<SyncOutcome> HistoryIndex::Synchronise(
    const ResultSource& source, const std::vector<ResultEntry>& entries,
    absl::FunctionRef<bool()> should_stop) {
  if (absl::Status status = notes_.Refresh(); !status.ok()) return status;
  SyncOutcome outcome;
  for (const ResultEntry& entry : TakeChanges(entries, outcome)) {
    if (should_stop()) {
      outcome.was_stopped = true;
      break;
    }
    IndexedFile file =
        MeasureFile(entry, source.Read(entry.name, max_file_bytes_));
    // A file that has changed meanwhile is left for the next time.
    if (!source.IsUnchanged(entry)) continue;
    ++(file.problem().empty() ? outcome.added_files : outcome.unreadable_files);
    if (file_ != nullptr) CheckFile(file_->Put(file));
    Add(std::move(file));
  }
  return outcome;
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
  const std::vector<std::string> words = WordsOf(query.search);
  if (words.size() > kMaxSearchTerms ||
      query.attributes.size() > kMaxSearchTerms) {
    return absl::InvalidArgumentError(
        absl::StrCat("search: there may be ", kMaxSearchTerms,
                     " words, and as many attributes"));
  }
  ResultPage page;
  int64_t total = 0;
  bool has_more = false;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, result] : results_) {
    if (!IsSelected(result.get(), query) || !HasWords(result.get(), words)) {
      continue;
    }
    ++total;
    if (!query.cursor.empty() && place >= last) continue;
    has_more = page.results_size() == query.limit;
    if (!has_more) *page.add_results() = WithNote(result.get());
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
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, result] : results_) {
    if (place.second == result_id) return WithNote(result.get());
  }
  return absl::NotFoundError(
      absl::StrCat("there is no result ", result_id,
                   "; it may have been removed, or its file renamed"));
}

IndexedResult HistoryIndex::WithNote(IndexedResult result) const {
  const ResultNote note = notes_.Find(result.id());
  result.set_accepted(note.is_accepted);
  result.set_note(note.text);
  return result;
}

FilterValues HistoryIndex::Filters() const {
  FilterValues filters;
  const auto add = [&](std::set<std::string>& values,
                       const std::string& value) {
    if (value.empty() || values.contains(value)) return;
    filters.is_truncated |= values.size() == kMaxFilterValues;
    if (values.size() < kMaxFilterValues) values.insert(value);
  };
  const absl::MutexLock lock(&mutex_);
  for (const auto& [place, placed] : results_) {
    const IndexedResult& result = placed.get();
    add(filters.tests, result.test());
    add(filters.labels, result.label());
    for (const std::string& host : result.hosts()) add(filters.hosts, host);
    for (const auto& [name, value] : result.attributes()) {
      add(filters.attributes[name], value);
    }
  }
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
  return series_.List(test, rpc, kMaxSeries, notes_);
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
  const absl::Status found = Find(result_id).status();
  return found.ok() ? notes_.SetText(result_id, text) : found;
}

absl::Status HistoryIndex::SetAccepted(const std::string& result_id,
                                       bool is_accepted) {
  const absl::Status found = Find(result_id).status();
  return found.ok() ? notes_.SetAccepted(result_id, is_accepted) : found;
}

}  // namespace distbench::history
