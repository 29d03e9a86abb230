// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How often the analysis accuses instances, rightly and wrongly, in simulated
// tests.

#ifndef DISTBENCH_PRODUCTS_BLAME_TESTING_ACCUSATIONS_H_
#define DISTBENCH_PRODUCTS_BLAME_TESTING_ACCUSATIONS_H_

#include <string>
#include <vector>

#include "distbench/products/blame/testing/simulated_requests.h"

namespace distbench::blame {

struct AccusationCase {
  std::string name;
  SimulatedSystem system;
  std::string slow_instance;  // empty: all are equal
};

// Tests in which all instances are equal, but requests or moments are not.
std::vector<AccusationCase> CasesOfEquals();

// Tests in which one instance is slow, always or at times.
std::vector<AccusationCase> CasesOfSlowInstances();

// Of some tests, in how many ...
struct Accusations {
  // ... it is found, as a straggler, or because it would help if it were as
  // fast as others; or one of the two.
  int found_as_straggler = 0;
  int found_by_what_if = 0;
  int found = 0;

  // ... another one is accused.
  int false_stragglers = 0;
  int false_what_ifs = 0;
  int falsely_accused = 0;
};

// Simulates tests that differ in their seeds, from 1 on.
Accusations CountAccusations(const AccusationCase& simulated, int tests);

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_TESTING_ACCUSATIONS_H_
