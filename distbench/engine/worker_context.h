#ifndef DISTBENCH_ENGINE_WORKER_CONTEXT_H_
#define DISTBENCH_ENGINE_WORKER_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <random>

#include "distbench/engine/engine_state.h"
#include "distbench/engine/recorder.h"
#include "distbench/engine/timer_queue.h"
#include "distbench/protocol/driver.h"

namespace distbench {

// Counters that a worker writes and any thread may read.
struct WorkerProgress {
  std::atomic<int64_t> succeeded = 0;
  std::atomic<int64_t> failed = 0;
  std::atomic<int64_t> in_flight = 0;
  std::atomic<int64_t> unsent = 0;  // due, but held back until the end

  // Cheaper than a read-modify-write; the worker is the only writer.
  static void Add(std::atomic<int64_t>& counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount,
                  std::memory_order_relaxed);
  }
};

// What the parts of one worker share. Used by the worker's thread only, except
// for `progress`.
struct WorkerContext {
  WorkerContext(EngineState& engine, int worker, Transport& transport,
                int64_t sample_capacity, uint64_t seed)
      : engine(engine),
        worker(worker),
        transport(transport),
        recorder(engine.routes().counted_count(),
                 static_cast<int>(engine.plan().rpcs.size() +
                                  engine.plan().replay_traces.size()),
                 sample_capacity, seed),
        sample_capacity(sample_capacity),
        random(seed) {}

  EngineState& engine;
  const int worker;
  Transport& transport;
  TimerQueue timers;
  Recorder recorder;
  const int64_t sample_capacity;
  std::mt19937_64 random;
  WorkerProgress progress;

  // Monotonic time of the event that is being handled: at most as old as this
  // turn of the worker's loop. Spares the hot path its clock calls.
  int64_t now_ns = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_CONTEXT_H_
