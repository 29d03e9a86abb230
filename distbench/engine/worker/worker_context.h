// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_WORKER_CONTEXT_H_
#define DISTBENCH_ENGINE_WORKER_WORKER_CONTEXT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/recording/iteration_recorder.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/protocol/driver.h"
#include "distbench/stats/recent_intervals.h"

namespace distbench::engine {

// Counters that a worker writes and any thread may read.
struct WorkerProgress {
  std::atomic<int64_t> succeeded = 0;
  std::atomic<int64_t> failed = 0;
  std::atomic<int64_t> in_flight = 0;
  std::atomic<int64_t> offered = 0;          // open loop: sent or found unsent
  std::atomic<int64_t> open_loop_ended = 0;  // of the offered ones
  std::atomic<int64_t> backlog = 0;          // open loop: due but not sent yet
  stats::RecentIntervals recent;

  // Cheaper than a read-modify-write; the worker is the only writer.
  static void Add(std::atomic<int64_t>& counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount,
                  std::memory_order_relaxed);
  }
};

// The state that the parts of one worker share. Used by the worker's thread
// only, except for `progress`.
struct WorkerContext {
  WorkerContext(EngineState& engine, int worker, protocol::Transport& transport,
                int64_t sample_memory_bytes, uint64_t seed)
      : engine(engine),
        worker(worker),
        transport(transport),
        recorder(
            {.peer_count = engine.routes().counted_count(),
             .rpc_count = static_cast<int>(engine.plan().rpcs.size() +
                                           engine.plan().replay_traces.size()),
             .recording_memory_bytes =
                 (engine.plan().recording_memory_bytes -
                  ActivityRecordingBytes(engine.plan(), engine.instance())) /
                 engine.worker_count(),
             .sample_memory_bytes = sample_memory_bytes,
             .traced = IsTraced(engine.plan()),
             .replayed = !engine.plan().replay_traces.empty(),
             .measures_time_parts = engine.plan().measures_time_parts,
             .measures_wire_time = engine.plan().wire_time.share > 0,
             .unix_offset_ns = engine.unix_offset_ns(),
             .seed = seed},
            &progress.recent),
        iterations(static_cast<int>(engine.plan().recorded_actions.size())),
        random(seed) {}

  EngineState& engine;
  const int worker;
  protocol::Transport& transport;
  TimerQueue timers;
  WorkerProgress progress;
  Recorder recorder;
  IterationRecorder iterations;
  std::mt19937_64 random;

  // The monotonic time of the event that is being handled: at most as old as
  // this turn of the worker's loop. Saves the hot path clock calls.
  int64_t now_ns = 0;

  int64_t event_count = 0;  // events that the loop has handled

 private:
  static bool IsTraced(const config::Plan& plan) {
    return std::any_of(
        plan.rpcs.begin(), plan.rpcs.end(),
        [](const config::RpcPlan& rpc) { return rpc.tracing_interval > 0; });
  }
};

// Draw a number, or return the fixed one.
inline int64_t Draw(int distribution, int64_t fixed, WorkerContext& context) {
  if (distribution == config::kNone) return fixed;
  return context.engine.plan().distributions[distribution].Draw(
      context.random)[0];
}
// The size of what the server's instance with this number receives or answers.
// Requires a size by instance.
inline int64_t SizeOf(const config::SizePlan& size, int server_instance,
                      const WorkerContext& context) {
  const std::vector<int64_t>& sizes =
      context.engine.plan().size_tables[size.size_table];
  return sizes[server_instance % sizes.size()];
}
// Of a size by instance: that of this one, which answers.
inline int64_t DrawSize(const config::SizePlan& size, WorkerContext& context) {
  if (size.size_table != config::kNone) {
    return SizeOf(size, context.engine.instance_plan().number, context);
  }
  return Draw(size.distribution, size.fixed_bytes, context);
}
inline int64_t DrawTime(const config::IntervalPlan& time,
                        WorkerContext& context) {
  return Draw(time.distribution, time.fixed_ns, context);
}

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_WORKER_CONTEXT_H_
