#ifndef DISTBENCH_TEST_BUILDER_COMMON_PARAMETERS_H_
#define DISTBENCH_TEST_BUILDER_COMMON_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "test_builder/parameter.h"

namespace distbench {

// Parameters of every test, whatever its pattern and protocol.
const std::vector<Parameter>& CommonParameters();

// How long traffic is generated.
int64_t TestDurationUs(const ParameterValues& values);

// When a test is given up, in whole seconds: as asked for, else with two
// minutes to set up and to collect results.
int64_t TestTimeoutSeconds(const ParameterValues& values);

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_COMMON_PARAMETERS_H_
