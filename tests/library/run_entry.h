// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs an entry of the library of real traffic on simulated time.

#ifndef DISTBENCH_TESTS_LIBRARY_RUN_ENTRY_H_
#define DISTBENCH_TESTS_LIBRARY_RUN_ENTRY_H_

#include "absl/status/statusor.h"
#include "proto/library.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The entry's test, canonical. Files are found from the root of the sources.
absl::StatusOr<DistributedSystemDescription> EntryTest(
    const LibraryEntry& entry);

// Runs `test` for `seconds` instead of the duration of its actions, always with
// the same seed, and traces all RPCs if `traced`. A test that does not end, or
// in which an RPC fails without a fault of a server, is an error.
absl::StatusOr<TestResult> RunSimulated(DistributedSystemDescription test,
                                        int64_t seconds, bool traced);

}  // namespace distbench

#endif  // DISTBENCH_TESTS_LIBRARY_RUN_ENTRY_H_
