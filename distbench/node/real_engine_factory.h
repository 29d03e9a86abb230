#ifndef DISTBENCH_NODE_REAL_ENGINE_FACTORY_H_
#define DISTBENCH_NODE_REAL_ENGINE_FACTORY_H_

#include "distbench/node/engine_factory.h"

namespace distbench {

// Makes Engines. Never destroyed; thread-safe.
EngineFactory& RealEngineFactory();

}  // namespace distbench

#endif  // DISTBENCH_NODE_REAL_ENGINE_FACTORY_H_
