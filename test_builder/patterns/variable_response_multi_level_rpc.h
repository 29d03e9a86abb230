#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_VARIABLE_RESPONSE_MULTI_LEVEL_RPC_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_VARIABLE_RESPONSE_MULTI_LEVEL_RPC_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// A load balancer, roots, and leaves whose responses have random sizes.
Pattern VariableResponseMultiLevelRpcPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_VARIABLE_RESPONSE_MULTI_LEVEL_RPC_H_
