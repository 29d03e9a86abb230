#ifndef DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
#define DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/faults.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

// The server side of one worker: decides how to handle requests, and answers
// them. Those that stream are handled in Streams.
class RequestHandler {
 public:
  // `faults` may be null; otherwise it must outlive this.
  RequestHandler(WorkerContext& context, Faults* faults);

  // Admits a request. Returns the list that handles it. Returns kNone if no
  // list does: the request is answered at once if its RPC has an empty action
  // list, this instance cannot handle it, or a fault demands an error; a
  // replayed request is answered now or when its processing time is over. A
  // fault may delay each of these answers.
  int Admit(protocol::ServerCall& request);

  // The list that handles a request that was admitted.
  int ListOf(const protocol::ServerCall& request) const {
    return handling_[request.rpc_index].list;
  }

  // Answers a request that was admitted, and whose list does not run.
  void RefuseAdmitted(protocol::ServerCall& request, absl::string_view error);

  // Everything is stopped: refuses a request whose list does not run.
  void StopAdmitted(protocol::ServerCall& request) {
    RefuseAdmitted(request, StopError());
  }

  // A delayed answer is due, or everything is stopped.
  void OnReplyDue(Timer& timer);

  // Answers the request that `list` handles.
  void Respond(const ListRun& list);

  // Other faults are in effect.
  void OnFaultsChanged();

  // The number of requests that were admitted and not answered yet.
  int64_t pending() const { return pending_; }

 private:
  // The answer to a replayed request whose processing time is not over, or one
  // that a fault delays.
  struct DelayedReply {
    protocol::ServerCall* request = nullptr;
    const config::SizePlan* size = nullptr;
    bool by_fault = false;
    Timer timer;
  };

  // How requests of one RPC are handled.
  struct Handling {
    bool is_handled = false;   // by this instance, and does not stream
    bool is_plain = false;     // handled, and no fault affects it now
    int list = config::kNone;  // none: it has no actions
    const config::SizePlan* response = nullptr;
  };

  bool IsKnown(int rpc_index) const {
    return static_cast<size_t>(rpc_index) < handling_.size();
  }
  bool IsHandled(int rpc_index) const {
    return IsKnown(rpc_index) && handling_[rpc_index].is_handled;
  }
  bool IsPlain(int rpc_index) const {
    return IsKnown(rpc_index) && handling_[rpc_index].is_plain;
  }
  bool IsReplay(int rpc_index) const;
  bool IsStopped() const {
    return context_.engine.stop_scope() == StopScope::kEverything;
  }
  int AdmitDespiteFaults(protocol::ServerCall& request);
  void AnswerReplay(protocol::ServerCall& request);
  void AnswerDespiteFaults(protocol::ServerCall& request,
                           const config::SizePlan& size);
  void AnswerLater(protocol::ServerCall& request, const config::SizePlan& size,
                   int64_t due_ns, bool by_fault);
  void AnswerUnlessStopped(protocol::ServerCall& request,
                           const config::SizePlan& size);
  void Answer(protocol::ServerCall& request, const config::SizePlan& size);
  void Refuse(protocol::ServerCall& request, absl::string_view error);
  std::string StopError() const;

  WorkerContext& context_;
  Faults* const faults_;            // null: none
  const int number_;                // this instance's number
  std::vector<Handling> handling_;  // by RPC
  base::ObjectPool<DelayedReply> delayed_;
  int64_t pending_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
