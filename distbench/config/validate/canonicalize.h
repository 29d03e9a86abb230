#ifndef DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_
#define DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_

#include "proto/traffic_config.pb.h"

namespace distbench {

// Brings the sequence into the form that the rest of distbench works with, in
// which equal tests look alike:
// - every service has both count and x_size: each follows from the other, or
//   from the product of the sizes,
// - a string that is empty where that means the default is left out.
// What can not be brought into that form is left for validation to complain
// about. Idempotent.
void Canonicalize(TestSequence& sequence);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_CANONICALIZE_H_
