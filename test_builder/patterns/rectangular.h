#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_RECTANGULAR_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_RECTANGULAR_H_

#include "test_builder/patterns/pattern.h"

namespace distbench {

// Nodes on a grid that query neighbours, rows or columns.
Pattern RectangularPattern();

}  // namespace distbench

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_RECTANGULAR_H_
