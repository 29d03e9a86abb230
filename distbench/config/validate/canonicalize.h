#ifndef DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_
#define DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_

#include "proto/traffic_config.pb.h"

namespace distbench {

// Brings the sequence into the canonical form that the rest of distbench
// expects, in which equal tests look alike:
// - Every service has both count and x_size. Each follows from the other, or
//   the count from the product of the sizes.
// - Empty strings that mean the default are removed.
// - Quantities with units, such as Iterations.rate, are replaced by their
//   numbers.
// Anything that cannot be canonicalised is left for validation to report.
// Idempotent.
void Canonicalize(TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_
