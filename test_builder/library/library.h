// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The library of real traffic (workloads/real): ready tests with provenance.

#ifndef DISTBENCH_TEST_BUILDER_LIBRARY_LIBRARY_H_
#define DISTBENCH_TEST_BUILDER_LIBRARY_LIBRARY_H_

#include "absl/strings/string_view.h"
#include "proto/library.pb.h"

namespace distbench::test_builder {

// All entries, by name. Any thread may call this.
const TrafficLibrary& Library();

// Returns null if there is no such entry.
const LibraryEntry* FindLibraryEntry(absl::string_view name);

// Whether figures of the entry were not read in the publication itself.
bool IsSecondHand(const LibraryEntry& entry);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_LIBRARY_LIBRARY_H_
