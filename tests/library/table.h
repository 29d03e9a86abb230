// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The comparison of an entry as rows of the table in
// workloads/real/CHECKS.md.

#ifndef DISTBENCH_TESTS_LIBRARY_TABLE_H_
#define DISTBENCH_TESTS_LIBRARY_TABLE_H_

#include <string>

#include "proto/library.pb.h"
#include "tests/library/check_entry.h"

namespace distbench {

// "| entry | quantity | published | accepted error |", without what a run
// measured.
std::string PublishedCells(const LibraryEntry& entry, const Marginal& marginal);

// The rest of the row: "measured | error |".
std::string MeasuredCells(const Comparison& comparison);

}  // namespace distbench

#endif  // DISTBENCH_TESTS_LIBRARY_TABLE_H_
