// The server side of a transport whose requests are calls of
// kGenericRpcMethod.
//
// With server_type "inline" (the default) and "polling" they arrive at the
// worker's own queue; with "handoff" on threads of gRPC that the whole process
// shares (see queue/callback_queue.h). "inline" handles them where they arrive.
// The others hand them off to a handler pool, except those that need no thread,
// which go to the worker directly.
//
// A request in the pool occupies a thread. Action lists run on workers, as
// state machines. If the worker's own thread sleeps, the pool's thread runs the
// worker's turn (see event_queue.h); otherwise it posts the request to the
// worker. The thread counts as busy until the reply is sent. So a fixed pool
// handles as many requests at a time as it has threads, and an elastic pool
// grows to as many threads as there are requests. Handlers that call each other
// around a ring can exhaust fixed pools for good, as in real servers, until the
// test's deadline ends that. But the busy thread sleeps in the pool meanwhile,
// and need not be woken for the reply, which is sent by whichever thread has
// the turn.
//
//   where it arrives        pool thread            thread with the turn
//   Submit ───────────────▶ Run ▸ Post ──────────▶ OnHandedOver ▸ OnRequest
//                                                    ... handler runs ...
//                           (is free again) ◀───── Finish ◂ Reply
//
// This costs one thread switch per request, as in a server that runs its
// handlers on the pool's threads. Such a handler needs another switch for each
// RPC that it waits for, which is saved here.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_UNARY_SERVER_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_UNARY_SERVER_H_

#include <grpc/grpc.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/other_methods.h"
#include "distbench/protocol/grpc/server/pool_use.h"
#include "distbench/protocol/grpc/server/server_side.h"

namespace distbench::protocol {

class UnaryServer final : public ServerSide {
 public:
  // Requests for which a side asks in advance.
  static constexpr int kAhead = 128;

  // The queue and `callbacks` must outlive this. With `callbacks`, requests
  // arrive there. The pool, if there is one, must end before this, after
  // drained() holds. `nonce` is the test's, for handshakes. For
  // measures_time_parts, see DriverEnvironment.
  UnaryServer(EventQueue& queue, const CallbackQueue* callbacks,
              PoolUse pool_use, std::string nonce, bool measures_time_parts);
  ~UnaryServer() override;

  UnaryServer(const UnaryServer&) = delete;
  UnaryServer& operator=(const UnaryServer&) = delete;

  // Prepares to accept requests of `method`, and starts to accept handshakes of
  // `handshake_method`. Both come from grpc_server_register_method(), and must
  // live until the server was shut down, as must the server. Call this before
  // the queue is polled.
  void Serve(grpc_server* server, void* method, void* handshake_method);

  // Asks for one more request.
  void Accept();

  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override {
    return place_.active == 0 && other_methods_.drained();
  }

  // RPCs that stream are handled where they arrive, so that there are none
  // with a pool.
  StreamingRequests* streams() override {
    return pool_use_.pool == nullptr ? &other_methods_.streaming() : nullptr;
  }

 private:
  class Request;

  // Counts the arrival of a request. Any thread may call it.
  void OnArrival();

  ServerPlace place_;
  const PoolUse pool_use_;
  const bool measures_time_parts_;
  void* method_ = nullptr;
  OtherMethods other_methods_;
  std::atomic<int> asked_ = 0;  // requests that have not arrived yet
  // Those that the engine has and that occupy a thread of the pool; each knows
  // its position. For the thread that has the turn.
  std::vector<Request*> lent_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Request>> requests_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_UNARY_SERVER_H_
