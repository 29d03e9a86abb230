#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_CONTROLS_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_CONTROLS_H_

#include <string>

#include "distbench/fuzzing/random_source.h"
#include "proto/experiment.pb.h"

namespace distbench::engine {

// Returns valid controls, with all services that `glob` matches in one group or
// in none. Engines ignore them; nodes do not.
ControlSet AnyControls(const std::string& glob, fuzzing::RandomSource& random);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_CONTROLS_H_
