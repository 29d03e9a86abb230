#ifndef DISTBENCH_ENGINE_COLLECT_SERVER_H_
#define DISTBENCH_ENGINE_COLLECT_SERVER_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/worker.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Emits what the workers of an instance did as servers on purpose: faults, and
// admission. Nothing if the test has neither. Only while no worker runs.
void CollectServerLog(const EngineState& engine,
                      const std::vector<std::unique_ptr<Worker>>& workers,
                      absl::FunctionRef<void(ResultChunk chunk)> emit);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_COLLECT_SERVER_H_
