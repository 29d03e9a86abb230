#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_STOCHASTIC_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_STOCHASTIC_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Clients whose queries go to a random number of servers.
Pattern StochasticPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_STOCHASTIC_H_
