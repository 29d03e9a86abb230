// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Files of results: where an index finds them, and what it keeps of them.

#ifndef DISTBENCH_PRODUCTS_HISTORY_RESULT_SOURCE_H_
#define DISTBENCH_PRODUCTS_HISTORY_RESULT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/products/history/history.pb.h"
#include "distbench/products/history/notes.h"
#include "proto/results.pb.h"

namespace distbench::history {

// A file of results as it is now. Equal entries have equal contents.
struct ResultEntry {
  // "nightly/a.pb.gz": relative to the source's folder, or, if it has several,
  // behind the path by which the folder was given.
  std::string name;
  int64_t size_bytes = 0;
  int64_t modified_ns = 0;  // Unix time

  friend bool operator==(const ResultEntry&, const ResultEntry&) = default;
};

// The contents of a file. What only a sequencer's description of a run tells is
// empty for others.
struct KeptResults {
  TestSequenceResults results;  // with statistics, as ReadResults() returns
  std::string run_id;
  std::string label;
  int64_t start_ns = 0;  // of the run, Unix time; 0 if not known
  bool is_step = false;  // of a search or of an experiment
};

// Thread-safe. Errors name the file, and say what is wrong.
class ResultSource {
 public:
  virtual ~ResultSource() = default;

  // Sorted by name.
  virtual absl::StatusOr<std::vector<ResultEntry>> List() const = 0;

  // NOT_FOUND if there is no such file (any more). UNAVAILABLE, and only then,
  // if its run has not ended. RESOURCE_EXHAUSTED if it has more than
  // `max_bytes`, uncompressed; see ReadResults().
  virtual absl::StatusOr<KeptResults> Read(const std::string& name,
                                           int64_t max_bytes) const = 0;

  // Whether the file is still as it was listed. Otherwise it may have been read
  // in part, or not at all.
  virtual bool IsUnchanged(const ResultEntry& entry) const = 0;

  // Opens the file as it is on disk, to be handed out.
  virtual absl::StatusOr<base::FileDescriptor> Open(
      const std::string& name) const = 0;

  // What the ids of the file's results begin with: 16 hexadecimal digits of a
  // hash of its name in its folder. If the source has several folders, 8 of the
  // folder's path, and a '.', come before them.
  virtual std::string IdOf(const std::string& name) const;
};

// Folders of results.
class ResultFolders : public ResultSource {
 public:
  // The notes files of the folders.
  virtual NotesPaths Notes() const = 0;

  // Of a single folder, its path. Of several, what tells them from others, and
  // from the same under other names: a text for programs.
  virtual std::string Identity() const = 0;
};

// Names of files in a folder are those of results (*.pb and *.pb.gz), and of
// runs that a sequencer keeps with --results_dir (ID.result). Folders in it
// belong to it. Symbolic links in the folder are not followed, so that nothing
// outside is read; a path itself may be one.
//
// A folder counts once, though it is given twice, or is inside of another one.
// So does a file that has several links (hard ones): the first counts. A list
// fails if one of the folders cannot be listed.
//
// NOT_FOUND or similar if there is no such folder; the error names the path and
// says what to give. At least one path must be given.
absl::StatusOr<std::unique_ptr<ResultFolders>> OpenResultFolders(
    const std::vector<std::string>& paths);

// Takes the figures of reports. Percentiles that the number of requests does
// not support have no points. An error is the file's problem. `id` is that of
// ResultSource::IdOf().
IndexedFile MeasureFile(const ResultEntry& entry, const std::string& id,
                        absl::StatusOr<KeptResults> kept);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_RESULT_SOURCE_H_
