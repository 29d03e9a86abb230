// The load of patterns that a number of queries per second enters.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_LOAD_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_LOAD_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// Puts the parameters of the load in front of others: qps,
// synchronization_mode and warmup_seconds.
std::vector<Parameter> WithQueryLoad(absl::string_view default_qps,
                                     std::vector<Parameter> others);

// Makes the iterations an open loop as the parameters say, for as long as the
// test lasts.
void SetQueryLoad(const ParameterValues& values, Iterations& iterations);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_QUERY_LOAD_H_
