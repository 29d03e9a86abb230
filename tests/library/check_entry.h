// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares the traffic of entries of the library with what was published.

#ifndef DISTBENCH_TESTS_LIBRARY_CHECK_ENTRY_H_
#define DISTBENCH_TESTS_LIBRARY_CHECK_ENTRY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/library.pb.h"

namespace distbench {

// How a marginal compares: see Marginal.published.
struct Comparison {
  Marginal marginal;
  std::vector<double> values;  // as many as were published; none of a table
  double error = 0;

  bool Agrees() const { return error <= marginal.tolerance(); }
};

// Says what a provenance lacks: fields that library.proto requires.
absl::Status CheckProvenance(const LibraryEntry& entry);

// Runs the entry and compares all of its marginals. The error names the entry
// and what is wrong with it; a marginal that does not agree is not an error.
absl::StatusOr<std::vector<Comparison>> CompareEntry(const LibraryEntry& entry);

}  // namespace distbench

#endif  // DISTBENCH_TESTS_LIBRARY_CHECK_ENTRY_H_
