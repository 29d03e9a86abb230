#ifndef DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_
#define DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_

#include <cstdint>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench {

// Draws a size, or returns the fixed one.
inline int64_t DrawSize(const SizePlan& size, WorkerContext& context) {
  if (size.distribution == kNone) return size.fixed_bytes;
  return context.engine.plan().distributions[size.distribution].Draw(
      context.random)[0];
}

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_DRAW_SIZE_H_
