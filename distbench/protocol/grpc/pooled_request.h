// A request that a thread of a handler pool takes care of.
//
// Action lists run on workers, as state machines; a pool's thread can not run
// one. It does what else the thread of a server with a handler pool does: it
// takes the request, has it handled, is blocked until there is a reply, and
// sends the reply. So each request occupies one thread of the pool for as long
// as it is handled: a fixed pool handles that many requests at a time, an
// elastic one grows to as many as there are, and handlers that call each other
// around a ring can use up fixed pools for good, as they do in real servers
// (the test's deadline ends that).
//
//   where it arrives        pool thread            worker
//   Submit ───────────────▶ Run
//                           Post ────────────────▶ OnComplete ▸ OnRequest
//                           (is blocked)             ... handler runs ...
//                           Leave ◀─────────────── LetGo      ◂ Reply
//
// Compared with handling in place that costs three changes of thread. A server
// that runs its handlers on the pool's threads themselves has the first; for
// each RPC that such a handler waits for it has another, which this one saves.

#ifndef DISTBENCH_PROTOCOL_GRPC_POOLED_REQUEST_H_
#define DISTBENCH_PROTOCOL_GRPC_POOLED_REQUEST_H_

#include <cstddef>
#include <semaphore>
#include <string>
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
 public:
  // Ends the wait of the pool's thread. Once per Run(), by the worker, after
  // which the request may be in use by that thread until it has left.
  void LetGo(bool reply) {
    reply_ = reply;
    let_go_.release();
  }

  // Keeps what Reply() must have read before it returns.
  void KeepReplyError() {
    error_.assign(reply_error.data(), reply_error.size());
    reply_error = error_;
  }

 protected:
  ~PooledRequest() = default;

  // Takes over what the client asks for. The trace context stays where the
  // header has it.
  void TakeOver(const RequestHeader& header) {
    rpc_index = header.rpc_index;
    server_instance = header.server_instance;
    warmup = header.warmup;
    response_bytes = header.response_bytes;
    processing_ns = header.processing_ns;
    trace_context = header.trace_context;
  }

  // The worker's, to whom Run() hands the request as a Completion.
  virtual EventQueue& queue() = 0;

  // The last that the pool's thread does: sends the reply, if there is one.
  virtual void Leave(bool reply) = 0;

 private:
  void Run() final {
    queue().Post(*this);
    let_go_.acquire();
    Leave(reply_);
  }

  bool reply_ = false;
  std::binary_semaphore let_go_{0};
  std::string error_;
};

// Requests that the engine has and that have to be told when the server ends.
// Used by one thread.
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
