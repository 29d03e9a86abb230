// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The run-time state of an engine: executions of action lists, their actions,
// the iterations of these, and their RPCs.
//
//   ListRun ── has ──▶ ActionRun ── has in flight ──▶ Iteration ──▶ RpcCalls
//      ▲                                                  │
//      └────────────── or a nested ListRun ◀──────────────┘
//
// Everything that belongs to one ListRun stays on one worker from start to end,
// so nothing here is locked. Objects come from pools and are reset when they
// are taken.

#ifndef DISTBENCH_ENGINE_WORKER_RUN_STATE_H_
#define DISTBENCH_ENGINE_WORKER_RUN_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/pacing/pacer.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/worker/inbox.h"
#include "distbench/protocol/driver.h"

namespace distbench::engine {

struct ListRun;
struct ReplayRun;
struct RequestGroup;

// State shared by the workers that run one action of the main list.
struct SharedAction {
  int position = 0;  // the action's place in the main list
  int shard_count = 1;
  int64_t start_ns = 0;
  std::atomic<int64_t> claimed_numbers = 0;  // may exceed the count
  std::atomic<int> unfinished_shards = 0;
};

// The place of a closed loop's iteration that has failed, until the next one
// may start in it.
struct PausedPlace {
  int64_t due_ns = 0;
  int64_t backoff_ns = 0;  // how long it pauses
};

// An action in one execution of its list, or one worker's shard of it.
struct ActionRun {
  ListRun* list = nullptr;
  const config::ActionPlan* plan = nullptr;
  int position = 0;  // in the list

  int remaining_dependencies = 0;
  bool skipped = false;
  bool exhausted = false;  // no further iteration will start
  bool behind = false;     // the in-flight cap holds iterations back
  bool advancing = false;  // Advance() is on the stack
  bool queued = false;     // among the worker's ready actions

  int64_t start_ns = 0;
  int64_t intended_start_ns = 0;  // first iteration; 0: not paced
  bool held_back = false;         // whether the list's origin was held back
  int64_t end_ns = 0;             // no iteration is due later
  int64_t started = 0;            // iterations, on this worker
  int64_t in_flight = 0;          // iterations, and places that pause
  int64_t max_in_flight = 0;
  int64_t next_number = 0;     // of an iteration, if below numbers_end
  int64_t numbers_end = 0;     // of the numbers that this worker has claimed
  int rpcs_per_iteration = 1;  // last iteration's RPCs
  int64_t backlog_rpcs = 0;    // due but not sent yet; an estimate

  std::vector<PausedPlace> paused;  // closed loop: a heap, the earliest first

  Pacer pacer;  // open loop
  Timer timer;  // for the delay, then for the pacer or the earliest pause
};

// One execution of an action list.
struct ListRun {
  // The reason why the list runs, and the meaning of its end.
  enum class Role : uint8_t {
    kMain,     // the instance's traffic has ended
    kHandler,  // a request is answered
    kNested,   // an iteration of another list's action is done
    kShard,    // a shard of a main-list action is done
  };

  Role role = Role::kMain;
  bool advancing = false;    // Advance() is on the stack
  bool own_traffic = false;  // descends from the main list, not from a request
  bool warmup = false;       // inherited
  bool failed = false;       // an iteration of its actions has
  bool succeeded = false;    // another one has
  const config::ListPlan* plan = nullptr;
  int list = 0;  // index into Plan::lists
  int64_t invocation = 0;
  int64_t start_ns = 0;
  int64_t intended_start_ns = 0;  // inherited from an open loop; 0: none
  bool held_back = false;         // inherited, too
  int unfinished_actions = 0;
  std::vector<ActionRun> actions;  // as many as plan->actions
  std::vector<int> startable;      // positions whose dependencies are done
  std::vector<bool> predicates;    // drawn for this execution
  const config::SizePlan* response_override = nullptr;

  protocol::ServerCall* request =
      nullptr;                            // kHandler; null once it is answered
  struct Iteration* iteration = nullptr;  // kNested
  SharedAction* shared = nullptr;         // kShard
  std::string trace_context;              // inherited; empty: none

  // Present if the list keeps a limited number of samples.
  std::optional<SampleReservoir> samples;
};

// Readies the timer of something that belongs to a list's traffic.
inline void SetUpTimer(Timer& timer, Timer::Kind kind, const ListRun& list,
                       void* owner) {
  timer.kind = kind;
  timer.traffic =
      list.own_traffic ? Timer::Traffic::kOwn : Timer::Traffic::kAll;
  timer.spin = list.plan->spin;
  timer.owner = owner;
}

// One iteration of an action.
struct Iteration {
  ActionRun* action = nullptr;
  int64_t number = 0;
  int64_t intended_ns = 0;  // 0: closed loop
  bool warmup = false;
  bool held_back = false;  // by an in-flight cap
  bool failed = false;     // an RPC of it has, or of a list that it runs
  int64_t backoff_ns = 0;  // the pause before it; 0: none
  // Whether this is a single RPC of a closed loop whose iterations are all
  // alike except for the warm-up: then its call can be sent again as the next
  // one.
  bool repeats = false;
  int outstanding = 0;            // RPCs; in a replay, unsent ones too
  ReplayRun* replay = nullptr;    // for a replay only
  RequestGroup* group = nullptr;  // for the use of Policies; null at the end
  Timer timer;  // for an activity that waits, or for what is received

  // Of an action that records its iterations.
  int64_t recorded_number = 0;
  int64_t started_ns = 0;

  // Also for an activity that waits.
  struct Wait {
    int64_t requested_ns = 0;
    int64_t started_ns = 0;
    bool seeks = false;  // waits for a place
    PlaceSeeker seeker;
  };
  Wait wait;
  Receiver receiver;  // for an action that receives
};

// One RPC of an iteration, or an attempt of one that has a policy.
struct RpcCall {
  // Who takes the end of the call. Anything but kOrdinary is kOrdinary again
  // when the call is put back.
  enum class Kind : uint8_t { kOrdinary, kReplayed, kAttempt };

  protocol::ClientCall
      client;  // must be first: the transport returns a ClientCall*
  Kind kind = Kind::kOrdinary;
  Iteration* iteration = nullptr;
  int64_t intended_ns = 0;  // 0: closed loop
  int record = 0;           // replays: position in the table
  std::string trace_context;
  bool sent = true;  // false: ended while it waited for a send queue
  bool waits =
      false;  // for a send queue, so that the transport does not have it
  RpcCall* previous = nullptr;  // among the calls that wait for a send queue
  RpcCall* next = nullptr;      // likewise
  void* stream = nullptr;       // for the use of Streams
  Timer timer;                  // the deadline, while it waits for a send queue

  // Returns the RpcCall that contains `client`.
  static RpcCall& Of(protocol::ClientCall& client);
};

static_assert(offsetof(RpcCall, client) == 0);
inline RpcCall& RpcCall::Of(protocol::ClientCall& client) {
  return reinterpret_cast<RpcCall&>(client);
}

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_RUN_STATE_H_
