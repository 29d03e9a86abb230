// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Random parts of tests that depend on nothing else in the test. Values are
// chosen from edge cases rather than uniformly.

#ifndef DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_PARTS_H_
#define DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "distbench/fuzzing/random_source.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {

// The largest payload.
inline constexpr int64_t kMaxSizeBytes = 200'000;

NamedSetting MakeSetting(const std::string& name, const std::string& value);
NamedSetting MakeSetting(const std::string& name, int64_t value);

ConstraintList AnyConstraints(const std::vector<std::string>& attributes,
                              fuzzing::RandomSource& random);

// Returns a distribution of values from 0 to max_value, as PMF or CDF.
DistributionConfig AnyDistribution(const std::string& name,
                                   const std::vector<std::string>& fields,
                                   int64_t max_value,
                                   fuzzing::RandomSource& random);

std::string AnyActivityFunction(fuzzing::RandomSource& random);

// Returns settings with which an iteration takes little time.
std::vector<NamedSetting> AnySettingsOf(const std::string& activity_function,
                                        fuzzing::RandomSource& random);

// Returns a binding. Engines ignore it; nodes do not.
NumaBinding AnyBinding(fuzzing::RandomSource& random);

// Returns an arrival process that never ends.
Arrivals AnyArrivals(fuzzing::RandomSource& random);

// Returns a fanout to at most target_limit targets.
std::string StochasticFilter(int target_limit, fuzzing::RandomSource& random);

// Returns record `number` of a trace, for a server with the given numbers of
// multi-server channels and instances.
RpcReplayTraceRecord AnyReplayRecord(int number, int channels,
                                     int server_instances,
                                     fuzzing::RandomSource& random);

// Writes some of a test's durations, rates and sizes with units, in place of
// the numbers. The test stays the same. Rates that no text gives exactly keep
// their numbers, and so does the search.
void WriteSomeWithUnits(fuzzing::RandomSource& random,
                        DistributedSystemDescription& test);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_PROPERTY_TESTING_RANDOM_PARTS_H_
