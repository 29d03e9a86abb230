#ifndef DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_
#define DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_

#include "distbench/hosting/engine_factory.h"

namespace distbench {

// The factory of engines that run in this process. Never destroyed;
// thread-safe.
EngineFactory& InProcessEngines();

}  // namespace distbench

#endif  // DISTBENCH_HOSTING_IN_PROCESS_ENGINES_H_
