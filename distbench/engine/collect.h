#ifndef DISTBENCH_ENGINE_COLLECT_H_
#define DISTBENCH_ENGINE_COLLECT_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/iteration_pool.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/worker.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Emits the log of an instance from the records of its workers, with time
// stamps in Unix time. The first chunks hold the instance's own part (errors,
// activities, and error_message unless it is empty), then come series of its
// activities, and series, offered loads, statistics and samples of its RPCs.
// Chunks are of bounded size.
void CollectLog(const EngineState& engine, absl::string_view error_message,
                absl::Span<const ActivityRecord> activities,
                const ActivityRecorder& activities_over_time,
                absl::Span<const Recorder* const> recorders,
                absl::FunctionRef<void(ResultChunk chunk)> emit);

// Emits what the workers of an instance did as servers on purpose: faults, and
// admission. Nothing if the test has neither. Only while no worker runs.
void CollectServerLog(const EngineState& engine,
                      const std::vector<std::unique_ptr<Worker>>& workers,
                      absl::FunctionRef<void(ResultChunk chunk)> emit);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_COLLECT_H_
