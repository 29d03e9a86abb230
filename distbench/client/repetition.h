// Repeats tests, so that the spread between runs can be measured.

#ifndef DISTBENCH_CLIENT_REPETITION_H_
#define DISTBENCH_CLIENT_REPETITION_H_

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::client {

// Returns the tests `repetitions` times (at least 1). All tests run once before
// any runs again, so that slow changes, such as in temperature, affect all of
// them alike. Each run is set up afresh, as every test of a sequence is.
TestSequence RepeatTests(const TestSequence& tests, int repetitions);

// Numbers the results of such a sequence, of which there may be fewer than
// tests. `test_count` is the number of tests before the repetition.
void NumberRepetitions(int test_count, TestSequenceResults& results);

}  // namespace distbench::client

#endif  // DISTBENCH_CLIENT_REPETITION_H_
