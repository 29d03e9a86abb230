// Durations as people type them, for flags, parameters and properties of jobs
// alike.

#ifndef DISTBENCH_FLAGS_DURATION_H_
#define DISTBENCH_FLAGS_DURATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace distbench::flags {

// Parses numbers with their units, such as "1m30s" or "200ms", or a plain
// number, such as "90" or "0.5", which counts seconds. The result is from 0 to
// 2^63 - 1 nanoseconds, and rounded to the nearest one. INVALID_ARGUMENT quotes
// the text and shows the right form.
absl::StatusOr<absl::Duration> ParseDurationOrSeconds(absl::string_view text);

}  // namespace distbench::flags

#endif  // DISTBENCH_FLAGS_DURATION_H_
