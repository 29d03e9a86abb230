// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Brings tests into their canonical form, and finds all of their problems, and
// what is probably not as intended.

#ifndef DISTBENCH_CONFIG_VALIDATE_CHECK_H_
#define DISTBENCH_CONFIG_VALIDATE_CHECK_H_

#include <vector>

#include "absl/status/statusor.h"
#include "distbench/config/problems/problem.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The gate that every test passes before it runs: canonicalises the sequence,
// validates it, and makes sure that the engine supports it. Returns the
// canonical sequence; Compile() accepts each of its tests. INVALID_ARGUMENT
// lists all problems, one per line, as "path: what is wrong; what would be
// right".
absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence);

// Brings the sequence into the canonical form that the rest of distbench
// expects, in which equal tests look alike:
// - Every service has both count and x_size. Each follows from the other, or
//   the count from the product of the sizes. A service outside of the
//   test has one instance, which stands for all of its servers.
// - Empty strings that mean the default are removed.
// - Quantities with units, such as Iterations.rate, are replaced by their
//   numbers.
// Anything that cannot be canonicalised is left for validation to report.
// Idempotent.
void Canonicalize(TestSequence& sequence);

// Returns all problems of a canonical sequence (see Canonicalize()): names,
// references, shapes, ranges, distributions, options, recursion. A sequence
// without problems compiles, and runs without failures that the config could
// cause.
std::vector<Problem> Validate(const TestSequence& sequence);

// Returns warnings about a sequence that CheckTestSequence() has returned:
// unused parts, a warm-up that never ends, an open loop without an end, a rate
// that one connection cannot carry, controls that contradict each other.
std::vector<Problem> FindWarnings(const TestSequence& sequence);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_CHECK_H_
