// A request that occupies a thread of a handler pool.
//
// Action lists run on workers, as state machines. What a thread of a pool does
// is to run the worker's turn if the worker's own thread sleeps (see turn.h),
// and to post the request to it otherwise. The thread counts as busy until the
// reply is sent: so a fixed pool handles as many requests at a time as it has
// threads, an elastic one grows to as many as there are, and handlers that call
// each other around a ring can use up fixed pools for good, as they do in real
// servers (the test's deadline ends that). But it sleeps in the pool meanwhile:
// nobody has to wake it for the reply, which is sent by who runs the turn.
//
//   where it arrives        pool thread            who has the worker's turn
//   Submit ───────────────▶ Run ▸ Post ──────────▶ OnComplete ▸ OnRequest
//                                                    ... handler runs ...
//                           (is free again) ◀───── Finish ◂ Reply
//
// That costs one change of thread, as in a server that runs its handlers on the
// pool's threads themselves; for each RPC that such a handler waits for it has
// another, which this one saves.

#ifndef DISTBENCH_PROTOCOL_GRPC_POOLED_REQUEST_H_
#define DISTBENCH_PROTOCOL_GRPC_POOLED_REQUEST_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/event_queue.h"
#include "distbench/protocol/grpc/handler_pool.h"

namespace distbench {

// What is said of a request that a pool has no thread for.
inline constexpr char kNoThreadForRequest[] =
    "the server can not start a thread for the request (threadpool_type "
    "\"null\")";

// Which requests go through a pool.
struct PoolUse {
  HandlerPool* pool = nullptr;  // none: they are handled where they arrive

  // By RPC index: whether requests are answered at once, which takes no thread,
  // unless the client asks for processing time.
  std::vector<bool> immediate_rpcs = {};

  bool Covers(const ServerCall& call) const {
    const auto index = static_cast<size_t>(call.rpc_index);
    const bool immediate = index < immediate_rpcs.size() &&
                           immediate_rpcs[index] && call.processing_ns == 0;
    return pool != nullptr && !immediate;
  }
};

class PooledRequest : public ServerCall,
                      public Completion,
                      public HandlerPool::Task {
 protected:
  ~PooledRequest() = default;

  // Takes over what the client asks for; false if that is malformed. The trace
  // context stays in the message, an IncomingMessage or IncomingByteBuffer.
  template <typename Message>
  bool ReadHeader(Message& message) {
    request_bytes = message.size_bytes();
    RequestHeader header;
    if (!message.Decode(header)) return false;
    rpc_index = header.rpc_index;
    server_instance = header.server_instance;
    warmup = header.warmup;
    response_bytes = header.response_bytes;
    processing_ns = header.processing_ns;
    trace_context = header.trace_context;
    // A handler may take its time: the payload need not stay for it.
    if (trace_context.empty()) message.Clear();
    return true;
  }

  // The worker's, to whom Run() hands the request as a Completion.
  virtual EventQueue& queue() = 0;

 private:
  void Run() final { queue().Post(*this); }
};

// Requests that the engine has and that have to be told when the server ends.
// Used by who has the worker's turn.
template <typename Request>
class LentRequests {
 public:
  // Uses request.position.
  void Add(Request& request) {
    request.position = requests_.size();
    requests_.push_back(&request);
  }

  void Remove(Request& request) {
    requests_.back()->position = request.position;
    std::swap(requests_[request.position], requests_.back());
    requests_.pop_back();
  }

  auto begin() const { return requests_.begin(); }
  auto end() const { return requests_.end(); }

 private:
  std::vector<Request*> requests_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_POOLED_REQUEST_H_
