#ifndef DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_CONTROLS_H_
#define DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_CONTROLS_H_

#include <string>

#include "distbench/fuzzing/random_source.h"
#include "proto/experiment.pb.h"

namespace distbench::protection {

// Returns valid controls, with all services that `glob` matches in one group or
// in none. Engines ignore them; nodes do not.
ControlSet AnyControls(const std::string& glob, fuzzing::RandomSource& random);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_LANGUAGE_TESTING_RANDOM_CONTROLS_H_
