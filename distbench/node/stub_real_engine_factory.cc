#include <cstdlib>
#include "distbench/node/real_engine_factory.h"
namespace distbench {
EngineFactory& RealEngineFactory() { abort(); }
}  // namespace distbench
