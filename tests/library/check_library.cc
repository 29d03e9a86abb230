// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Compares all entries of the library of real traffic with what was published,
// and prints the table of workloads/real/CHECKS.md. Run it from the root of the
// sources:
//
//   bazel build -c opt //tests/library:check_library
//   bazel-bin/tests/library/check_library
//
// Exits with 1 if an entry does not agree.

#include <iostream>

#include "test_builder/library/library.h"
#include "tests/library/check_entry.h"
#include "tests/library/table.h"

namespace distbench {
namespace {

bool PrintRows(const LibraryEntry& entry) {
  const auto comparisons = CompareEntry(entry);
  if (!comparisons.ok()) {
    std::cerr << comparisons.status() << "\n";
    return false;
  }
  bool agrees = true;
  for (const Comparison& comparison : *comparisons) {
    std::cout << PublishedCells(entry, comparison.marginal)
              << MeasuredCells(comparison) << "\n";
    if (comparison.Agrees()) continue;
    agrees = false;
    std::cerr << entry.name() << ": " << comparison.marginal.quantity()
              << " does not agree with its source\n";
  }
  return agrees;
}

int CheckLibrary() {
  bool agrees = true;
  std::cout << "| entry | quantity | published | accepted error | measured | "
               "error |\n|---|---|---|---|---|---|\n";
  for (const LibraryEntry& entry : test_builder::Library().entries()) {
    agrees &= PrintRows(entry);
  }
  return agrees ? 0 : 1;
}

}  // namespace
}  // namespace distbench

int main() { return distbench::CheckLibrary(); }
