// An index over kept results: finds them, and follows their metrics over time.
//
//   absl::StatusOr<std::unique_ptr<ResultSource>> source =
//       OpenResultFolder("results");
//   absl::StatusOr<std::unique_ptr<HistoryIndex>> index =
//       HistoryIndex::Open({.index_path = "index.db",
//                           .notes_path = "results/distbench_notes.jsonl"});
//   (*index)->Synchronise(**source, *(*source)->List(), [] { return false; });
//   absl::StatusOr<ResultPage> page = (*index)->List({.search = "nightly"});

#ifndef DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_
#define DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/notes.h"
#include "distbench/products/history/result_source.h"

namespace distbench::history {

class Database;

struct HistoryOptions {
  // The index's own file; empty keeps the index in memory. One file per folder
  // of results.
  std::string index_path;

  // See ResultNotes. Empty keeps notes in memory only.
  std::string notes_path;

  // Larger files, uncompressed, are not read; see ResultSource::Read().
  int64_t max_file_bytes = int64_t{256} << 20;
};

// What Synchronise() did.
struct SyncOutcome {
  int64_t added_files = 0;  // or replaced, because they had changed
  int64_t removed_files = 0;
  int64_t unreadable_files = 0;  // of those that were new or changed
  bool was_stopped = false;

  bool has_changed() const {
    return added_files + removed_files + unreadable_files > 0;
  }
};

// The index is a cache: everything in it follows from the result files, which
// are never changed. An index file of another version of distbench, or a
// damaged one, is thrown away and made anew. Several processes can use one
// index file (SQLite, with a write-ahead log).
//
// Thread-safe. There is one connection, behind a mutex that is held for single
// queries and for the storing of one file; files are read and series judged
// without it.
class HistoryIndex {
 public:
  // The error names the file and the reason, such as a folder that is missing
  // or cannot be written.
  static absl::StatusOr<std::unique_ptr<HistoryIndex>> Open(
      const HistoryOptions& options);

  ~HistoryIndex();
  HistoryIndex(const HistoryIndex&) = delete;
  HistoryIndex& operator=(const HistoryIndex&) = delete;

  // Indexes new and changed files (by name, size and time of modification) of
  // the entries that the source has listed,
  // and forgets those that are gone. A file that cannot be read is kept with
  // the reason until it changes. Files that change while they are read are left
  // for the next time. Reads one file at a time. `should_stop` is asked between
  // files; what was indexed stays. At most one thread may synchronise at a
  // time.
  absl::StatusOr<SyncOutcome> Synchronise(
      const ResultSource& source, const std::vector<ResultEntry>& entries,
      absl::FunctionRef<bool()> should_stop) ABSL_LOCKS_EXCLUDED(mutex_);

  // Judges the series that have changed since they were judged, and keeps what
  // was found. It takes milliseconds for each series of some hundred results,
  // and up to seconds for one of kMaxJudgedPoints. `should_stop` is asked
  // between series. Call it after Synchronise(), in the same thread. DATA_LOSS
  // if the index was damaged: then it is empty, and the next Synchronise()
  // fills it.
  absl::Status Judge(absl::FunctionRef<bool()> should_stop)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // INVALID_ARGUMENT if limit or cursor are not valid, or there are too many
  // words or attributes.
  absl::StatusOr<ResultPage> List(const ResultQuery& query) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // NOT_FOUND if there is no such result.
  absl::StatusOr<IndexedResult> Find(const std::string& result_id) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<FilterValues> Filters() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Files that could not be read, by name.
  absl::StatusOr<std::vector<FileProblem>> Problems() const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // By test, RPC and metric; of all tests or RPCs where the name is empty.
  // Changes are those of the last judgement. At most kMaxSeries.
  static constexpr int kMaxSeries = 1000;
  absl::StatusOr<std::vector<SeriesSummary>> ListSeries(
      const std::string& test, const std::string& rpc) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Judges the series if that was not done since it changed. Series of a test
  // are judged together: see FindChanges(). NOT_FOUND if there is none with
  // this id; ids stay the same until the index is made anew.
  absl::StatusOr<Trend> TrendOf(int64_t series_id) ABSL_LOCKS_EXCLUDED(mutex_);

  // As in ResultNotes; NOT_FOUND if there is no such result.
  absl::Status SetNote(const std::string& result_id, const std::string& text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status SetAccepted(const std::string& result_id, bool is_accepted)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct JudgedSeries;

  HistoryIndex(std::unique_ptr<Database> database,
               const HistoryOptions& options);

  absl::Status Update(const ResultSource& source,
                      const std::vector<ResultEntry>& entries,
                      absl::FunctionRef<bool()> should_stop,
                      SyncOutcome& outcome) ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Status JudgeChanged(absl::FunctionRef<bool()> should_stop)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Begins again with an empty index, in place of a damaged one.
  absl::Status Replace() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<JudgedSeries> JudgeSeries(int64_t series_id)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void AddNote(IndexedResult& result) const;

  const int64_t max_file_bytes_;
  mutable absl::Mutex mutex_;
  std::unique_ptr<Database> database_ ABSL_GUARDED_BY(mutex_)
      ABSL_PT_GUARDED_BY(mutex_);  // never null
  ResultNotes notes_;
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_
