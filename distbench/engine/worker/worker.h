// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_WORKER_H_
#define DISTBENCH_ENGINE_WORKER_WORKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/queues.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/worker/admission.h"
#include "distbench/engine/worker/faults.h"
#include "distbench/engine/worker/inbox.h"
#include "distbench/engine/worker/policies.h"
#include "distbench/engine/worker/receive_runner.h"
#include "distbench/engine/worker/replay_runner.h"
#include "distbench/engine/worker/request_handler.h"
#include "distbench/engine/worker/rpc_sender.h"
#include "distbench/engine/worker/scheduler.h"
#include "distbench/engine/worker/streams.h"
#include "distbench/engine/worker/wait_runner.h"
#include "distbench/engine/worker/worker_context.h"
#include "distbench/protocol/driver.h"

namespace distbench::engine {

class Worker;

// The engine as its workers see it. Called by the thread that has the worker's
// turn.
class WorkerGroup {
 public:
  virtual ~WorkerGroup() = default;
  virtual Worker& worker(int index) = 0;
  virtual Activities& activities() = 0;
  virtual Inbox& inbox() = 0;
  virtual void OnMainListFinished() = 0;
  // A worker's share of max_pending_rpcs is used up. Returns how many RPCs more
  // the instance may have in flight.
  virtual int64_t OnManyPendingRpcs() = 0;
  // This worker has more of `what` (a plural noun) in progress than the
  // test's max_pending_work. `remedy` says how to have fewer.
  virtual void OnMuchPendingWork(const char* what, const char* remedy) = 0;
  // An action has asked to end the traffic.
  virtual void StopOwnTraffic(const std::string& reason) = 0;
  // The instance cannot do what the test demands.
  virtual void OnFailure(const absl::Status& failure) = 0;
  // Blocks until a monotonic time, or until everything is stopped. Returns at
  // once if the owner runs the engine; then RunOnce() does nothing until then.
  virtual void WaitOutFreeze(int64_t until_ns) = 0;
};

// One event loop over one transport: it handles messages from other workers,
// timers, ready actions and the transport's events, then records the RPCs that
// have ended meanwhile. All work of an engine is done in such loops. While the
// worker's thread sleeps in the transport, a thread that brings something to do
// may run a turn of the loop in its place, one at a time: "on a worker's
// thread" always means on the thread that has its turn.
class Worker final : private protocol::TransportEvents,
                     private ActivityListener {
 public:
  Worker(EngineState& engine, int index, protocol::Transport& transport,
         int64_t sample_memory_bytes, uint64_t seed, WorkerGroup& group);
  ~Worker() override;

  // Messages, from any thread.

  // Starts the main list at a monotonic time. Worker 0 only.
  void StartMainList(int64_t start_ns);
  // The time from which the instance's faults count, which it has.
  void StartFaults(int64_t start_ns);
  // The engine's stop scope has changed.
  void OnStop();
  // Makes the worker notice when no RPC is left that it sent or has to answer.
  // Requires StopScope::kEverything.
  void Drain();
  void WaitUntilDrained() { drained_.WaitForNotification(); }
  bool drained() const { return drained_.HasBeenNotified(); }
  // Makes Run() return.
  void Quit();

  // Runs the loop on the calling thread until Quit().
  void Run();

  // Takes one turn of the loop without waiting, for callers that run it
  // themselves. Returns whether there was anything to do.
  bool RunOnce();

  // The monotonic time at which RunOnce() next has something to do without an
  // event, or TimerQueue::kNever.
  int64_t next_due_ns() const;

  // Whether a fault of the test has frozen the worker, for callers that run its
  // loop.
  bool is_frozen() const;

  const WorkerProgress& progress() const { return context_.progress; }

  // Returns the measurements since the last call; null if there are none yet.
  // One thread at a time.
  std::unique_ptr<stats::RecentIntervals::Parts> TakeRecent() {
    return context_.progress.recent.Take();
  }

  // Only while the loop does not run.
  Recorder& recorder() { return context_.recorder; }
  const IterationRecorder& iterations() const { return context_.iterations; }

  // Likewise; null if the instance has no faults, or no admission.
  const Faults* faults() const { return handler_.faults(); }
  const Admission* admission() const { return handler_.admission(); }

  // For the parts of the worker, on its thread.

  WorkerGroup& group() { return group_; }

  // Sends the RPCs of an iteration. Returns false if it has none; otherwise the
  // scheduler's FinishIteration() follows, not before this returns.
  bool SendRpcs(Iteration& iteration);

  // Runs an iteration of an activity or of a replay. FinishIteration() follows,
  // perhaps before this returns.
  void StartActivity(Iteration& iteration);
  void StartReplay(Iteration& iteration);

  // Runs an iteration that receives a request. Returns whether it is over at
  // once; otherwise FinishIteration() follows.
  bool StartReceive(Iteration& iteration) { return receive_.Start(iteration); }

  // Answers list.request, after which the list no longer refers to it.
  void Respond(const ListRun& list);

  // Runs an action of the main list on several workers: StartShard() is called
  // on the scheduler of each, and OnShardsFinished() follows on this one's.
  void StartShards(ActionRun& action, int shard_count);
  void OnShardFinished(SharedAction& action);

  // A client's RPC that streams has ended.
  void EndStream(protocol::ClientCall& call);

  // From any thread: an iteration of this worker has been given a place.
  // WaitRunner::OnPlace() follows.
  void PostPlace(Iteration& iteration);

  // On the thread of `sender`, which may be this worker: an iteration of this
  // one has been given a request.
  void PostReceived(Iteration& iteration, const Worker& sender);

 private:
  // Something to do on the worker's thread.
  struct Message {
    std::function<void()> run;
    Message* next = nullptr;
  };

  void Turn(bool may_wait);
  int64_t DoOwnWork(bool borrowed);
  void NoticeDrained();
  void Post(std::function<void()> run);
  void HandleMessages();
  void FireTimers();
  void Fire(Timer& timer);
  void FireStoppedTimers();
  bool IsStopped(const Timer& timer) const;
  void JudgeDeadline(protocol::ClientCall& call);
  void EndCall(protocol::ClientCall& call);
  void EndSpecialCall(protocol::ClientCall& call);
  void CheckPendingRpcs();
  void CheckUnanswered();
  void OnFaultDue();

  // TransportEvents
  void OnDone(protocol::ClientCall* call) override;
  void OnRequest(protocol::ServerCall* call) override;
  protocol::StreamEvents* stream_events() override { return &streams_; }
  bool LendsTurns() const override { return true; }
  int64_t EndBorrowedTurn() override;

  // ActivityListener
  void OnActivityDone(Iteration& iteration) override;

  WorkerContext context_;
  WorkerGroup& group_;
  const int64_t max_pending_rpcs_;  // this worker's share
  // As many may be pending before the worker looks at the others again; its
  // share at the beginning of each turn.
  int64_t allowed_rpcs_;
  Scheduler scheduler_;
  Streams streams_;
  Policies policies_;
  RpcSender sender_;
  ReplayRunner replay_;
  ReceiveRunner receive_;
  RequestHandler handler_;
  WaitRunner wait_;
  Timer start_timer_;
  base::MpscQueue<Message> messages_;
  // The main list's shared actions, which its worker keeps to the end.
  std::vector<std::unique_ptr<SharedAction>> shared_actions_;
  int64_t activities_in_flight_ = 0;
  bool draining_ = false;
  bool quitting_ = false;
  absl::Notification drained_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_WORKER_H_
