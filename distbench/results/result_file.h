// Result files: the canonical result on disk.

#ifndef DISTBENCH_RESULTS_RESULT_FILE_H_
#define DISTBENCH_RESULTS_RESULT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/results.pb.h"

namespace distbench {

enum class ResultEncoding { kText, kBinary };

// Writes the results, compressed by gzip if the path ends in ".gz". A file
// appears under its name when it is complete and on the disk, or not at all;
// what had the name before stays until then. A path that is no regular file
// (/dev/stdout, a pipe) is written as it stands.
//
// The error names the path and the reason: the disk is full, a directory is
// missing, the results exceed the 2 GiB that a protocol buffer may have.
absl::Status WriteResults(const TestSequenceResults& results,
                          const std::string& path, ResultEncoding encoding);

// Reads either encoding, compressed or not, whatever the file's name. All RPC
// logs of the result have valid statistics: those without are computed from
// samples (see statistics_from_samples.h), invalid ones are an error.
//
// The error names the path, and the line of a text: NOT_FOUND and the like if
// the file can not be read, INVALID_ARGUMENT if it is no result, DATA_LOSS if
// it is cut off or damaged.
absl::StatusOr<TestSequenceResults> ReadResults(const std::string& path);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_RESULT_FILE_H_
