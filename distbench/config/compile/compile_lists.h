#ifndef DISTBENCH_CONFIG_COMPILE_COMPILE_LISTS_H_
#define DISTBENCH_CONFIG_COMPILE_COMPILE_LISTS_H_

#include <vector>

#include "distbench/config/compile/compile_context.h"
#include "distbench/config/plan/plan.h"

namespace distbench {

// Compiles the test's action lists, in the order of the config.
std::vector<ListPlan> CompileLists(const CompileContext& context);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_COMPILE_COMPILE_LISTS_H_
