// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests from existing clients, which know only the call RunTestSequence.
// distbench's own clients use RunTests, and never come here.

#ifndef DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_
#define DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_

#include <map>
#include <vector>

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// Changes tests that existing clients run successfully, and that would be
// refused otherwise:
// - Names of payloads that do not exist are removed, so that the RPC has the
//   default size.
// - A test in which no service has a main list gets an empty one. It sends
//   nothing, and ends at once.
// - An array_size of the activity PolluteInstructionCache, which has no array,
//   is removed.
// Returns a warning for each change, by the position of the test.
std::map<int, std::vector<Finding>> AdaptLegacyTests(TestSequence& sequence);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_SERVING_LEGACY_TESTS_H_
