// A request that occupies a thread of a handler pool.
//
// Action lists run on workers, as state machines. If the worker's own thread
// sleeps, a thread of the pool runs the worker's turn (see event_queue.h);
// otherwise it posts the request to the worker. The thread counts as busy until
// the reply is sent. So a fixed pool handles as many requests at a time as it
// has threads, and an elastic pool grows to as many threads as there are
// requests. Handlers that call each other around a ring can exhaust fixed pools
// for good, as in real servers, until the test's deadline ends that. But the
// busy thread sleeps in the pool meanwhile, and need not be woken for the
// reply, which is sent by whichever thread has the turn.
//
//   where it arrives        pool thread            thread with the turn
//   Submit ───────────────▶ Run ▸ Post ──────────▶ OnComplete ▸ OnRequest
//                                                    ... handler runs ...
//                           (is free again) ◀───── Finish ◂ Reply
//
// This costs one thread switch per request, as in a server that runs its
// handlers on the pool's threads. Such a handler needs another switch for each
// RPC that it waits for, which is saved here.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_POOLED_REQUEST_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_POOLED_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_parts.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/handler_pool.h"

namespace distbench::protocol {

// The reply to a request for which no thread can be started.
inline constexpr char kNoThreadForRequest[] =
    "the server cannot start a thread for the request (threadpool_type "
    "\"null\")";

// Selects the requests that go through a pool.
struct PoolUse {
  HandlerPool* pool = nullptr;  // null: requests are handled on arrival

  // By RPC index: whether requests are answered at once, without a thread,
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
    payload::RequestHeader header;
    if (!message.Decode(header)) return false;
    TakeHeader(header, *this);
    // A handler may take its time: the payload need not stay for it.
    if (trace_context.empty()) message.Clear();
    return true;
  }

  // Returns the reply's header. With `times`, the reply must be handed to gRPC
  // at once.
  payload::ResponseHeader ReplyHeader(bool times) const {
    payload::ResponseHeader header = {.server_instance = reply_instance,
                                      .error_message = reply_error};
    if (times) {
      header.queue_ns = begun_ns - arrived_ns;
      header.handler_ns = base::RealClock().MonotonicNs() - begun_ns;
    }
    return header;
  }

  // When gRPC delivered the request (monotonic). received_ns is later if it had
  // to wait for a thread of a pool or for its worker.
  int64_t arrived_ns = 0;

  // The worker's queue, to which Run() posts the request.
  virtual EventQueue& queue() = 0;

 private:
  void Run() final { queue().Post(*this); }
};

// Requests that the engine holds and that must be told when the server ends.
// Used by the thread that has the worker's turn.
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

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_POOLED_REQUEST_H_
