#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_CP_NODE_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_CP_NODE_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Peers that exchange messages with sizes measured in data centres.
Pattern HomaCpNodePattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_HOMA_CP_NODE_H_
