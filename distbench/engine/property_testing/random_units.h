#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_UNITS_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_UNITS_H_

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// Writes some of a test's durations, rates and sizes with units, in place of
// the numbers. The test stays the same. Rates that no text gives exactly keep
// their numbers, and so does the search.
void WriteSomeWithUnits(fuzzing::RandomSource& random,
                        DistributedSystemDescription& test);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_UNITS_H_
