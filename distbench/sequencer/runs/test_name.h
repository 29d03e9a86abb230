#ifndef DISTBENCH_SEQUENCER_RUNS_TEST_NAME_H_
#define DISTBENCH_SEQUENCER_RUNS_TEST_NAME_H_

#include <string>

#include "proto/traffic_config.pb.h"

namespace distbench {

// The name of a test in messages: its attribute test_name, or "tests[INDEX]".
std::string TestName(const DistributedSystemDescription& test, int test_index);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_TEST_NAME_H_
