#ifndef DISTBENCH_ENGINE_COLLECT_H_
#define DISTBENCH_ENGINE_COLLECT_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/worker.h"
#include "distbench/protocol/driver.h"
#include "proto/results.pb.h"

namespace distbench::engine {

// Emits the log of an instance from the records of its workers, with time
// stamps in Unix time. The first chunks hold the instance's own part (errors,
// activities, counters of the driver, and error_message unless it is empty),
// then come series of its activities and RPCs, and then what each worker has
// recorded, which results::MergeChunk() adds up. Chunks are of bounded size.
// Only while no worker runs.
void CollectLog(const EngineState& engine, absl::string_view error_message,
                protocol::ProtocolDriver& driver, Activities& activities,
                absl::Span<const std::unique_ptr<Worker>> workers,
                absl::FunctionRef<void(ResultChunk chunk)> emit);

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_COLLECT_H_
