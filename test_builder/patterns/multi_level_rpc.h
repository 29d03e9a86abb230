#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_MULTI_LEVEL_RPC_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_MULTI_LEVEL_RPC_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// A load balancer, roots and leaves, with messages of 1 KiB.
Pattern MultiLevelRpcPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_MULTI_LEVEL_RPC_H_
