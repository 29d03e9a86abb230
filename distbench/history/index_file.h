// The file of an index.

#ifndef DISTBENCH_HISTORY_INDEX_FILE_H_
#define DISTBENCH_HISTORY_INDEX_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/history/database.h"

namespace distbench {

// Opens an index, or makes it. An index that is of another schema, or damaged,
// is replaced by an empty one. FAILED_PRECONDITION if the file is something
// else, which is never touched. An empty path means memory.
absl::StatusOr<std::unique_ptr<Database>> OpenIndexFile(
    const std::string& path);

// Makes an empty index in place of one that is damaged. Nobody in this process
// may have it open.
absl::StatusOr<std::unique_ptr<Database>> ReplaceIndexFile(
    const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_HISTORY_INDEX_FILE_H_
