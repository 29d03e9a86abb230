// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What makes Arrivals messages valid and canonical, beyond the rules of their
// fields; and the recordings that they may have.

#ifndef DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
#define DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The longest mean time between iterations.
inline constexpr int64_t kMaxIntervalNs = 1'000'000'000'000'000;

// Parses the contents of RecordedArrivals.file. Returns the gaps between
// arrivals in seconds, one less than there are arrivals; their sum is positive.
// INVALID_ARGUMENT names the line, and what would be right.
absl::StatusOr<std::vector<double>> ParseRecording(absl::string_view text);

// Fills in the rate of a recording, if none is given, and the number of
// iterations, if the recording does not repeat. Requires canonical fields.
// Leaves a recording alone that CheckArrivals() complains about.
void CanonicalizeArrivals(Iterations& iterations);

// Adds a problem for everything that is wrong with the message, which is at
// `path`. A canonical message without problems can be compiled.
void CheckArrivals(const Arrivals& arrivals, const Path& path,
                   Problems& problems);

// The same without the rules of single fields (proto/rules.proto).
void CheckArrivalsBetweenFields(const Arrivals& arrivals, const Path& path,
                                Problems& problems);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_ARRIVALS_CHECK_ARRIVALS_H_
