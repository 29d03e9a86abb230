// Tests that run several times, so that the spread between runs is known.

#ifndef DISTBENCH_CLIENT_REPETITION_H_
#define DISTBENCH_CLIENT_REPETITION_H_

#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// The tests, `repetitions` (at least 1) times. All run once before any runs
// again: what changes slowly, such as temperature, then hits all alike. Each
// run is set up afresh, as every test of a sequence is.
TestSequence RepeatTests(const TestSequence& tests, int repetitions);

// Numbers the results of such a sequence, of which there may be fewer than
// tests. test_count: that of the sequence before it was repeated.
void NumberRepetitions(int test_count, TestSequenceResults& results);

}  // namespace distbench

#endif  // DISTBENCH_CLIENT_REPETITION_H_
