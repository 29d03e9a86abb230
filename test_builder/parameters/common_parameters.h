#ifndef DISTBENCH_TEST_BUILDER_PARAMETERS_COMMON_PARAMETERS_H_
#define DISTBENCH_TEST_BUILDER_PARAMETERS_COMMON_PARAMETERS_H_

#include <cstdint>
#include <vector>

#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// Parameters of every test, whatever its pattern and protocol.
const std::vector<Parameter>& CommonParameters();

// The duration of the traffic.
int64_t TestDurationUs(const ParameterValues& values);

// The test's time limit in whole seconds: the requested one, or else the
// duration plus two minutes for set-up and collection of results.
int64_t TestTimeoutSeconds(const ParameterValues& values);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PARAMETERS_COMMON_PARAMETERS_H_
