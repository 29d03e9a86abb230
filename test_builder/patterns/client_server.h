#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_CLIENT_SERVER_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_CLIENT_SERVER_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Clients that keep a number of RPCs in flight to all servers.
Pattern ClientServerPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_CLIENT_SERVER_H_
