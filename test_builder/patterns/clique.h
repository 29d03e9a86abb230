#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_CLIQUE_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_CLIQUE_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Every node queries all others, all at the same moments.
Pattern CliquePattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_CLIQUE_H_
