#include "distbench/products/history/history_index.h"

#include <map>
#include <utility>

#include "absl/memory/memory.h"
#include "distbench/products/history/database.h"
#include "distbench/products/history/index_file.h"
#include "distbench/products/history/index_queries.h"
#include "distbench/products/history/measured_result.h"
#include "distbench/products/history/series.h"

namespace distbench::history {
namespace {

MeasuredFile MeasureFile(const ResultEntry& entry, const ResultSource& source,
                         int64_t max_bytes) {
  MeasuredFile file = {
      .entry = entry, .problem = "", .run_id = "", .label = "", .tests = {}};
  absl::StatusOr<KeptResults> kept = source.Read(entry.name, max_bytes);
  if (!kept.ok()) {
    file.problem = std::string(kept.status().message());
    return file;
  }
  file.run_id = std::move(kept->run_id);
  file.label = std::move(kept->label);
  std::vector<report::SourcedResults> sourced(1);
  sourced[0].results = std::move(kept->results);
  for (const report::TestRun& run : report::ListRuns(sourced)) {
    file.tests.push_back(Measure(run));
  }
  return file;
}

absl::StatusOr<Environments> EnvironmentsOf(
    const std::vector<StoredPoint>& points, const Database& database) {
  Environments environments;
  for (const StoredPoint& point : points) {
    const auto [entry, is_new] = environments.try_emplace(point.environment);
    if (!is_new) continue;
    const absl::StatusOr<std::string> facts =
        FactsOf(point.environment, database);
    if (!facts.ok()) return facts.status();
    entry->second = StoredTexts(*facts);
  }
  return environments;
}

}  // namespace

struct HistoryIndex::JudgedSeries {
  StoredSeries series;
  std::vector<StoredPoint> points;
};

HistoryIndex::HistoryIndex(std::unique_ptr<Database> database,
                           const HistoryOptions& options)
    : max_file_bytes_(options.max_file_bytes),
      database_(std::move(database)),
      notes_(options.notes_path) {}

HistoryIndex::~HistoryIndex() = default;

absl::StatusOr<std::unique_ptr<HistoryIndex>> HistoryIndex::Open(
    const HistoryOptions& options) {
  absl::StatusOr<std::unique_ptr<Database>> database =
      OpenIndexFile(options.index_path);
  if (!database.ok()) return database.status();
  auto index =
      absl::WrapUnique(new HistoryIndex(*std::move(database), options));
  if (absl::Status status = index->notes_.Refresh(); !status.ok()) {
    return status;
  }
  return index;
}

absl::Status HistoryIndex::Update(const ResultSource& source,
                                  const std::vector<ResultEntry>& entries,
                                  absl::FunctionRef<bool()> should_stop,
                                  SyncOutcome& outcome) {
  absl::StatusOr<std::map<std::string, ResultEntry>> indexed = [this] {
    absl::MutexLock lock(&mutex_);
    return IndexedFiles(*database_);
  }();
  if (!indexed.ok()) return indexed.status();
  std::map<std::string, ResultEntry> gone = *std::move(indexed);
  std::vector<ResultEntry> changed;
  for (const ResultEntry& entry : entries) {
    const auto known = gone.extract(entry.name);
    if (known.empty() || known.mapped() != entry) changed.push_back(entry);
  }
  for (const auto& [name, entry] : gone) {
    absl::MutexLock lock(&mutex_);
    if (absl::Status status = RemoveFile(name, *database_); !status.ok()) {
      return status;
    }
    ++outcome.removed_files;
  }
  for (const ResultEntry& entry : changed) {
    if (should_stop()) {
      outcome.was_stopped = true;
      return absl::OkStatus();
    }
    const MeasuredFile file = MeasureFile(entry, source, max_file_bytes_);
    // A file that has changed meanwhile is left for the next time.
    if (!source.IsUnchanged(entry)) continue;
    absl::MutexLock lock(&mutex_);
    if (absl::Status status = StoreFile(file, *database_); !status.ok()) {
      return status;
    }
    ++(file.problem.empty() ? outcome.added_files : outcome.unreadable_files);
  }
  return absl::OkStatus();
}

absl::StatusOr<SyncOutcome> HistoryIndex::Synchronise(
    const ResultSource& source, const std::vector<ResultEntry>& entries,
    absl::FunctionRef<bool()> should_stop) {
  if (absl::Status status = notes_.Refresh(); !status.ok()) return status;
  SyncOutcome outcome;
  absl::Status status = Update(source, entries, should_stop, outcome);
  if (absl::IsDataLoss(status)) {
    if (status = Replace(); !status.ok()) return status;
    outcome = SyncOutcome();
    status = Update(source, entries, should_stop, outcome);
  }
  if (!status.ok()) return status;
  return outcome;
}

absl::Status HistoryIndex::Replace() {
  absl::MutexLock lock(&mutex_);
  const std::string path = database_->path();
  database_.reset();
  absl::StatusOr<std::unique_ptr<Database>> database = ReplaceIndexFile(path);
  if (!database.ok()) {
    // Queries go on, and find nothing.
    database = OpenIndexFile("");
  }
  if (database.ok()) database_ = *std::move(database);
  return database.status();
}

absl::Status HistoryIndex::Judge(absl::FunctionRef<bool()> should_stop) {
  const absl::Status status = JudgeChanged(should_stop);
  if (absl::IsDataLoss(status)) {
    if (absl::Status replaced = Replace(); !replaced.ok()) return replaced;
  }
  return status;
}

absl::Status HistoryIndex::JudgeChanged(absl::FunctionRef<bool()> should_stop) {
  const absl::StatusOr<std::vector<int64_t>> ids = [this] {
    absl::MutexLock lock(&mutex_);
    return SeriesOfChangedTests(*database_);
  }();
  if (!ids.ok()) return ids.status();
  for (const int64_t id : *ids) {
    if (should_stop()) return absl::OkStatus();
    const absl::Status status = JudgeSeries(id).status();
    // The test may have been removed meanwhile.
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<HistoryIndex::JudgedSeries> HistoryIndex::JudgeSeries(
    int64_t series_id) {
  JudgedSeries judged;
  {
    absl::MutexLock lock(&mutex_);
    absl::StatusOr<StoredSeries> series = FindSeries(series_id, *database_);
    if (!series.ok()) return series.status();
    judged.series = *std::move(series);
    absl::StatusOr<std::vector<StoredPoint>> points =
        PointsOf(series_id, *database_);
    if (!points.ok()) return points.status();
    judged.points = *std::move(points);
  }
  if (judged.series.is_judged() || judged.points.empty()) return judged;
  judged.series.changes = JudgePoints(judged.points, judged.series.family_size);
  absl::MutexLock lock(&mutex_);
  absl::Status status =
      StoreChanges(judged.series, judged.points.back().position, *database_);
  if (!status.ok()) return status;
  return judged;
}

absl::StatusOr<ResultPage> HistoryIndex::List(const ResultQuery& query) const {
  absl::MutexLock lock(&mutex_);
  absl::StatusOr<ResultPage> page = ListResults(query, *database_);
  if (!page.ok()) return page;
  for (IndexedResult& result : page->results) AddNote(result);
  return page;
}

absl::StatusOr<IndexedResult> HistoryIndex::Find(
    const std::string& result_id) const {
  absl::MutexLock lock(&mutex_);
  absl::StatusOr<IndexedResult> result = FindResult(result_id, *database_);
  if (result.ok()) AddNote(*result);
  return result;
}

void HistoryIndex::AddNote(IndexedResult& result) const {
  ResultNote note = notes_.Find(result.id);
  result.is_accepted = note.is_accepted;
  result.note = std::move(note.text);
}

absl::StatusOr<FilterValues> HistoryIndex::Filters() const {
  absl::MutexLock lock(&mutex_);
  return ListFilters(*database_);
}

absl::StatusOr<std::vector<FileProblem>> HistoryIndex::Problems() const {
  absl::MutexLock lock(&mutex_);
  return ListProblems(*database_);
}

absl::StatusOr<std::vector<SeriesSummary>> HistoryIndex::ListSeries(
    const std::string& test, const std::string& rpc) const {
  absl::MutexLock lock(&mutex_);
  const absl::StatusOr<std::vector<StoredSeries>> stored =
      ListStoredSeries(test, rpc, kMaxSeries, *database_);
  if (!stored.ok()) return stored.status();
  std::vector<SeriesSummary> series;
  for (const StoredSeries& one : *stored) {
    series.push_back(SummaryOf(one, notes_));
  }
  return series;
}

absl::StatusOr<Trend> HistoryIndex::TrendOf(int64_t series_id) {
  const absl::StatusOr<JudgedSeries> judged = JudgeSeries(series_id);
  if (!judged.ok()) return judged.status();
  const absl::StatusOr<Environments> environments = [&] {
    absl::MutexLock lock(&mutex_);
    return EnvironmentsOf(judged->points, *database_);
  }();
  if (!environments.ok()) return environments.status();
  return MakeTrend(judged->series, judged->points, *environments, notes_);
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
