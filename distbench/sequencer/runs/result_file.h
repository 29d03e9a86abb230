// The result of a run in a file.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/sequencer/runs/run_disk.h"

namespace distbench {

// The file begins with a line that says what it is. A record has its length and
// its CRC-32 before its bytes, both as 4 bytes with the lowest first. A file
// that ends in the middle of a record is whole up to there.

// A new file, which the first record makes.
std::unique_ptr<ResultFile> NewResultFile(std::string path);

// The first `size` bytes of a file, to read.
absl::StatusOr<std::unique_ptr<ResultFile>> OpenResultFile(std::string path,
                                                           int64_t size);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_FILE_H_
