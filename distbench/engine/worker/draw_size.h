#ifndef DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_
#define DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_

#include <cstdint>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

// Draws a size, or returns the fixed one.
inline int64_t DrawSize(const config::SizePlan& size, WorkerContext& context) {
  if (size.distribution == config::kNone) return size.fixed_bytes;
  return context.engine.plan().distributions[size.distribution].Draw(
      context.random)[0];
}

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_
