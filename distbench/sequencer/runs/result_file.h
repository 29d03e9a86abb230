// Stores the result of a run in a file.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/sequencer/runs/run_storage.h"

namespace distbench::sequencer {

// The file begins with a line that names its format. Each record is preceded by
// its length and its CRC-32, 4 bytes each, least significant byte first. If a
// file ends in the middle of a record, all records before that one are intact.

// A new file, created when the first record is appended.
std::unique_ptr<ResultFile> NewResultFile(std::string path);

// Opens the first `size` bytes of a file for reading.
absl::StatusOr<std::unique_ptr<ResultFile>> OpenResultFile(std::string path,
                                                           int64_t size);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_
