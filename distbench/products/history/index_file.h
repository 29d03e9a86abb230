// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The file of an index: what was measured of result files, so that a later
// start need not read them again.

#ifndef DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_
#define DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/products/history/history.pb.h"

struct sqlite3;

namespace distbench::history {

// A table of files in SQLite, with a write-ahead log, so that several processes
// can use one. Waits up to five seconds for others that write. Errors name the
// file and say what SQLite says. Thread-compatible.
class IndexFile {
 public:
  // Opens an index, or makes it, and adds what it has to `files`. One that is
  // of another version of distbench, or damaged, is replaced by an empty one.
  // FAILED_PRECONDITION if the file is something else, which is never touched.
  static absl::StatusOr<std::unique_ptr<IndexFile>> Open(
      const std::string& path, std::vector<IndexedFile>& files);

  // Keeps what is known of a file, in place of what was known, or forgets it.
  absl::Status Put(const IndexedFile& file);
  absl::Status Remove(const std::string& name);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  using Database = std::unique_ptr<sqlite3, Closer>;

  IndexFile(std::string path, Database database);

  static absl::StatusOr<std::unique_ptr<IndexFile>> OpenOnce(
      const std::string& path, std::vector<IndexedFile>& files);

  const std::string path_;
  const Database database_;
};

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_INDEX_FILE_H_
