// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// gRPC's threads for callbacks, for operations of the core API.
//
// gRPC's callback API has one completion queue for the whole process, and some
// threads of gRPC that wait at it and call back. Operations of the core API can
// use both. The C++ API makes much more for each call: a context, a reactor,
// several sets of operations with a completion each, and on servers it ends
// calls on still another thread of gRPC. With it on both sides, an RPC took 35
// us of CPU time, and 20 us with completion queues (16 B, 100 in flight).
//
// That is gRPC 1.51. Newer versions may have a queue for each channel instead,
// which calls back on threads of their event engine (the experiment
// event_engine_callback_cq). Operations of other channels and of servers can
// complete there, too, and callbacks that are not "inlineable", as ours, still
// run on no thread that starts an operation; but the threads have other names.

#ifndef DISTBENCH_PROTOCOL_GRPC_QUEUE_CALLBACK_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_QUEUE_CALLBACK_QUEUE_H_

#include <grpc/grpc.h>
#include <grpcpp/channel.h>

#include <memory>

namespace distbench::protocol {

// The tag of every operation on a CallbackQueue points to the functor of a
// Callback.
class Callback : private grpc_completion_queue_functor {
 public:
  void* tag() { return static_cast<grpc_completion_queue_functor*>(this); }

 protected:
  Callback() : grpc_completion_queue_functor{&Run, 0, 0, nullptr} {}
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() = default;

  // The operation is complete. `ok` is gRPC's verdict. Called on a thread of
  // gRPC, which calls back others as well. May destroy this.
  virtual void OnCallback(bool ok) = 0;

 private:
  static void Run(grpc_completion_queue_functor* functor, int ok) {
    static_cast<Callback*>(functor)->OnCallback(ok != 0);
  }
};

// Thread-safe.
class CallbackQueue {
 public:
  // Starts gRPC's threads for callbacks unless they run. Requires that gRPC is
  // initialised.
  CallbackQueue();

  // Requires that all operations are complete. Must not run on a thread of
  // gRPC, whose end it may wait for.
  ~CallbackQueue() = default;

  CallbackQueue(const CallbackQueue&) = delete;
  CallbackQueue& operator=(const CallbackQueue&) = delete;

  // Returns the queue for starting an operation on it.
  grpc_completion_queue* get() const { return queue_; }

 private:
  // The queue belongs to the channels that use it. This one has no other use.
  const std::shared_ptr<grpc::Channel> channel_;
  grpc_completion_queue* const queue_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_QUEUE_CALLBACK_QUEUE_H_
