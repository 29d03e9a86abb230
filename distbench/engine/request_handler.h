#ifndef DISTBENCH_ENGINE_REQUEST_HANDLER_H_
#define DISTBENCH_ENGINE_REQUEST_HANDLER_H_

#include <cstdint>
#include <string>

#include "distbench/engine/run_state.h"
#include "distbench/engine/worker_context.h"

namespace distbench {

// The server side of one worker: what a request calls for, and how it is
// answered.
class RequestHandler {
 public:
  explicit RequestHandler(WorkerContext& context) : context_(context) {}

  // Answers a request that needs no work: to an RPC whose action list is empty,
  // or that this instance can not handle. Returns the list that handles it
  // otherwise, and kNone if it was answered.
  int Admit(ServerCall& request);

  // Answers the request that a list handles.
  void Respond(const ListRun& list);

  // Requests that were admitted and not answered.
  int64_t pending() const { return pending_; }

 private:
  void Answer(ServerCall& request, const SizePlan& size);
  void Refuse(ServerCall& request, const std::string& error);

  WorkerContext& context_;
  int64_t pending_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_REQUEST_HANDLER_H_
