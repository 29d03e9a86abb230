#ifndef DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
#define DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench {

// The server side of one worker: decides how to handle requests, and answers
// them. Those that stream are handled in Streams.
class RequestHandler {
 public:
  explicit RequestHandler(WorkerContext& context);

  // Admits a request. Returns the list that handles it. Returns kNone if no
  // list does: the request is answered at once if its RPC has an empty action
  // list or this instance cannot handle it; a replayed request is answered now
  // or when its processing time is over.
  int Admit(ServerCall& request);

  // The processing time of a replayed request is over, or everything is
  // stopped.
  void OnReplyDue(Timer& timer);

  // Answers the request that `list` handles.
  void Respond(const ListRun& list);

  // The number of requests that were admitted and not answered yet.
  int64_t pending() const { return pending_; }

 private:
  // A replayed request that is answered when its processing time is over.
  struct DelayedReply {
    ServerCall* request = nullptr;
    Timer timer;
  };

  // How requests of one RPC are handled.
  struct Handling {
    bool is_handled = false;  // by this instance, and does not stream
    int list = kNone;         // none: it has no actions
    const SizePlan* response = nullptr;
  };

  bool IsHandled(int rpc_index) const {
    return static_cast<size_t>(rpc_index) < handling_.size() &&
           handling_[rpc_index].is_handled;
  }
  bool IsReplay(int rpc_index) const;
  void AnswerReplay(ServerCall& request);
  void AnswerUnlessStopped(ServerCall& request, const SizePlan& size);
  void Answer(ServerCall& request, const SizePlan& size);
  void Refuse(ServerCall& request, const std::string& error);

  WorkerContext& context_;
  const int number_;                // this instance's number
  std::vector<Handling> handling_;  // by RPC
  ObjectPool<DelayedReply> delayed_;
  int64_t pending_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_REQUEST_HANDLER_H_
