// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// An index over kept results: finds them, and follows their metrics over time.
//
//   absl::StatusOr<std::unique_ptr<ResultFolders>> source =
//       OpenResultFolders({"results"});
//   absl::StatusOr<std::unique_ptr<HistoryIndex>> index =
//       HistoryIndex::Open({.index_path = "index.db",
//                           .notes_paths = (*source)->Notes()});
//   (*index)->Synchronise(**source, *(*source)->List(), [] { return false; });
//   absl::StatusOr<ResultPage> page = (*index)->List({.search = "nightly"});

#ifndef DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_
#define DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/products/history/history.pb.h"
#include "distbench/products/history/history_answers.h"
#include "distbench/products/history/notes.h"
#include "distbench/products/history/result_source.h"
#include "distbench/products/history/series.h"

namespace distbench::history {

struct HistoryOptions {
  // Where the index keeps what it has measured; empty: nowhere, so that all
  // files are read again after a start. One file per source of results; in a
  // process, at most one index may use it.
  std::string index_path = {};

  // See ResultNotes.
  NotesPaths notes_paths = {};
};

// Larger files, uncompressed, are not read; see ResultSource::Read().
inline constexpr int64_t kMaxFileBytes = int64_t{256} << 20;

inline constexpr int kMaxPageSize = 500;

// The most words, and the most attributes, of a query: each is looked for in
// all results.
inline constexpr size_t kMaxSearchTerms = 20;

// Empty fields select everything; several select what all of them select.
struct ResultQuery {
  // Words, each of which is a part of the label, the test, the file, the run's
  // id, an attribute or a host; capitals count as small letters.
  std::string search;
  std::string test;
  std::string label;
  std::string host;
  std::map<std::string, std::string> attributes;

  // Started in [after, before), in Unix milliseconds.
  std::optional<int64_t> after_ms;
  std::optional<int64_t> before_ms;

  int limit = 50;      // 1 to kMaxPageSize
  std::string cursor;  // ResultPage::next of the previous page
};

// Adds an attribute, "NAME=VALUE", in place of one with its name.
// INVALID_ARGUMENT if it has no name or no "=".
absl::Status AddAttribute(const std::string& text, ResultQuery& query);

// The index is in memory, some kilobytes for each result. Everything in it
// follows from the result files, which are never changed; its own file only
// saves reading them again. Several processes can use one such file. Where it
// can no longer be used, the log says so, and the index goes on without it.
//
// Thread-safe. Files are read and series judged without the mutex.
class HistoryIndex {
 public:
  // The error names the index's file and the reason, such as a folder that is
  // missing or cannot be written.
  static absl::StatusOr<std::unique_ptr<HistoryIndex>> Open(
      const HistoryOptions& options);

  HistoryIndex(const HistoryIndex&) = delete;
  HistoryIndex& operator=(const HistoryIndex&) = delete;

  // Forgets files that are gone from the entries that the source has listed,
  // then indexes new and changed ones (by name, size and time of modification).
  // A file that cannot be read is kept with the reason until it changes. Files
  // that are still being written stay as they were known, and are left for the
  // next time. Reads one file at a time. `should_stop` is asked between files;
  // what was indexed stays. At most one thread may synchronise at a time. The
  // error is that of the notes.
  absl::Status Synchronise(const ResultSource& source,
                           const std::vector<ResultEntry>& entries,
                           absl::FunctionRef<bool()> should_stop)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Judges the series that have changed since they were judged, and keeps what
  // was found. It takes some ten milliseconds for each change of a long series,
  // less for the others. `should_stop` is asked between series.
  void Judge(absl::FunctionRef<bool()> should_stop) ABSL_LOCKS_EXCLUDED(mutex_);

  // INVALID_ARGUMENT if the cursor is not valid, the limit is none of a page, or
  // there are too many words or attributes.
  absl::StatusOr<ResultPage> List(const ResultQuery& query) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Where results are from several folders, an id need not name the folder if
  // only one of them has such a result. INVALID_ARGUMENT if several do: the
  // error lists them. NOT_FOUND if there is no such result.
  absl::StatusOr<IndexedResult> Find(const std::string& result_id) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Without attributes whose values almost every result has for itself.
  FilterValues Filters() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Files that could not be read, by name.
  FileProblems Problems() const ABSL_LOCKS_EXCLUDED(mutex_);

  // By test, RPC and metric; of all tests or RPCs where the name is empty.
  // Changes are those of the last judgement. At most kMaxSeries.
  SeriesList ListSeries(const std::string& test, const std::string& rpc) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Judges the series if that was not done since it changed. Series of a test
  // are judged together: see FindChanges(). NOT_FOUND if there is none with
  // this id.
  absl::StatusOr<Trend> TrendOf(int64_t series_id) ABSL_LOCKS_EXCLUDED(mutex_);

  // As in ResultNotes; the result is that of Find().
  absl::Status SetNote(const std::string& result_id, const std::string& text)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status SetAccepted(const std::string& result_id, bool is_accepted)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A result's place in lists: when it started, and its id.
  using Place = std::pair<int64_t, std::string>;

  class File;

  explicit HistoryIndex(const HistoryOptions& options)
      : notes_(options.notes_paths) {}

  // Puts a file in place of what was known by its name; null forgets that. Goes
  // on without the index's file if that fails.
  void Replace(const std::string& name, const SharedFile& file)
      ABSL_LOCKS_EXCLUDED(mutex_);

  absl::StatusOr<SharedTrend> JudgeSeries(int64_t series_id)
      ABSL_LOCKS_EXCLUDED(mutex_);
  IndexedResult WithNote(IndexedResult result) const;

  std::shared_ptr<File> file_;  // of the thread that synchronises
  ResultNotes notes_;
  mutable absl::Mutex mutex_;
  std::map<std::string, SharedFile> files_ ABSL_GUARDED_BY(mutex_);  // by name
  std::map<Place, std::shared_ptr<const IndexedResult>, std::greater<>> results_
      ABSL_GUARDED_BY(mutex_);  // newest first; parts of their files
  SeriesSet series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_HISTORY_INDEX_H_
