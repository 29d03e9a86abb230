#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TRIPARTITE_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TRIPARTITE_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Clients that first query an index, then the data servers.
Pattern TripartitePattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TRIPARTITE_H_
