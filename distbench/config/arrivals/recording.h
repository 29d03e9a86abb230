#ifndef DISTBENCH_CONFIG_ARRIVALS_RECORDING_H_
#define DISTBENCH_CONFIG_ARRIVALS_RECORDING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::config {

inline constexpr int kMinRecordedArrivals = 3;
inline constexpr int kMaxRecordedArrivals = 500'000;

// Parses the contents of RecordedArrivals.file. Returns the gaps between
// arrivals in seconds, one less than there are arrivals; their sum is positive.
// INVALID_ARGUMENT names the line, and what would be right.
absl::StatusOr<std::vector<double>> ParseRecording(absl::string_view text);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_RECORDING_H_
