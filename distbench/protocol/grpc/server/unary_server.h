// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The server side of a transport whose requests are calls of
// kGenericRpcMethod.
//
// With server_type "inline" (the default) and "polling" they arrive at the
// worker's own queue, and are this worker's. With "handoff" they arrive on
// threads of gRPC that the whole process shares (see queue/callback_queue.h),
// and go to the workers in turn: the worker is chosen on arrival, so that one
// that stands still for a while gets its share, then and afterwards. "inline"
// handles requests where they arrive. The others hand them off to a handler
// pool, except those that need no thread, which go to the worker directly.
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
#include <cstddef>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/server/asked_call.h"
#include "distbench/protocol/grpc/server/server_side.h"
#include "distbench/protocol/grpc/server/streaming_requests.h"

namespace distbench::protocol {

class UnaryRequest;
class UnaryServer;

// The requests that arrive at one source, and the server sides to whose workers
// they go. Used by the threads on which requests arrive, except for the first
// functions, which come before.
class UnaryRequests {
 public:
  // Requests that gRPC can deliver before the first of them is looked at: twice
  // those that a worker takes from its queue in one turn (EventQueue), so that
  // it finds as many again after it. Those for which none is asked wait in a
  // list of gRPC's, until one is. gRPC 1.51 does not limit that; newer versions
  // refuse requests if more than 1000 wait (grpc.server.max_pending_requests)
  // or one does for 30 s.
  static constexpr int kAhead = 2 * EventQueue::kMaxCompletions;

  // The source must outlive this. For measures_time_parts, see
  // DriverEnvironment.
  UnaryRequests(CallSource& source, PoolUse pool_use, bool measures_time_parts);

  UnaryRequests(const UnaryRequests&) = delete;
  UnaryRequests& operator=(const UnaryRequests&) = delete;

  void AddSide(UnaryServer& side) { sides_.push_back(&side); }

  // Starts to accept requests of `method`, unless another side has done so.
  void Serve(void* method);

  bool over() const { return source_.over(); }
  const PoolUse& pool_use() const { return pool_use_; }
  bool measures_time_parts() const { return measures_time_parts_; }

  // These are for requests. One asks; one has arrived, and returns its side.
  void OnAsking() { CountAsked(1); }
  UnaryServer& OnArrival();

 private:
  int CountAsked(int change);
  void Accept();

  CallSource& source_;
  const PoolUse pool_use_;
  const bool measures_time_parts_;
  void* method_ = nullptr;
  std::vector<UnaryServer*> sides_;

  // Requests that are asked for and have not arrived, and the number of those
  // that have. Relaxed is enough. The changes of one count have one order, and
  // each sees those before it: of simultaneous arrivals, the last in this order
  // sees how many are left, and no two get the same turn. They need not order
  // anything else, because gRPC, the pool and the workers' queues order what
  // the threads of a request share.
  std::atomic<int> asked_ = 0;
  std::atomic<size_t> arrived_ = 0;
};

class UnaryServer final : public ServerSide {
 public:
  // The arguments must outlive this. The pool, if there is one, must end before
  // this, after drained() holds.
  UnaryServer(EventQueue& queue, UnaryRequests& requests);
  ~UnaryServer() override;

  UnaryServer(const UnaryServer&) = delete;
  UnaryServer& operator=(const UnaryServer&) = delete;

  void Serve(grpc_server* server, const ServedMethods& methods) override;
  void Reply(ServerCall* call) override;
  void Close() override;
  bool drained() const override {
    return requests_.over() && streaming_.drained();
  }

  // RPCs that stream are handled where they arrive, so that there are none
  // with a pool.
  StreamingRequests* streams() override {
    return requests_.pool_use().pool == nullptr ? &streaming_ : nullptr;
  }

  // These are for requests. The queue, for any thread:
  EventQueue& queue() { return queue_; }
  // For the one that has the worker's turn: the engine gets the request, until
  // it answers it. Returns false, and does nothing, once the side is closed.
  [[nodiscard]] bool Lend(UnaryRequest& request);
  void TakeBack(UnaryRequest& request);

 private:
  EventQueue& queue_;
  UnaryRequests& requests_;
  StreamingRequests streaming_;
  std::vector<UnaryRequest*> lent_;  // each knows its position
  bool closed_ = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_UNARY_SERVER_H_
