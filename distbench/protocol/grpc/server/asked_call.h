// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A call of gRPC as a server sees one: it asks gRPC for a call, gets one with
// its message, answers it, and asks for the next.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_ASKED_CALL_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_ASKED_CALL_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {

class AskedCall;

// A queue at which calls of a server arrive, and these calls: either the own
// queue of one worker, or, for any number of workers, the one whose events
// threads of gRPC take.
class CallSource {
 public:
  // `callbacks` is null for a worker's own queue.
  explicit CallSource(const CallbackQueue* callbacks) : callbacks_(callbacks) {}
  // Requires that over() holds.
  ~CallSource();

  CallSource(const CallSource&) = delete;
  CallSource& operator=(const CallSource&) = delete;

  // These come first. Queues and server must live until over() holds.
  void AddWorker(EventQueue& queue) { workers_.push_back(&queue); }
  void SetServer(grpc_server* server) { server_ = server; }

  // The calls arrive, and their answers complete, at this queue.
  grpc_completion_queue* queue() const {
    return by_callback() ? callbacks_->get() : workers_.front()->get();
  }

  // Whether calls are on threads of gRPC when they arrive, several at a time.
  bool by_callback() const { return callbacks_ != nullptr; }

  // Lets a call ask for the first time. Called before the queue is polled, or
  // by a call that has arrived.
  void Add(std::unique_ptr<AskedCall> call);

  // Whether no call has an operation in gRPC or will get one: the server has
  // been shut down.
  bool over() const { return live_.load(std::memory_order_acquire) == 0; }

 private:
  friend class AskedCall;

  // A call has retired. Called by a thread that has a worker's turn.
  void OnRetired();

  const CallbackQueue* const callbacks_;
  std::vector<EventQueue*> workers_;
  grpc_server* server_ = nullptr;

  // Calls that have not retired. Each is counted up when it is made and down at
  // the end of the server, not for each request. A call is made while another
  // one is live, so that 0 is final. Who reads 0 sees all that was done with
  // the calls: each decrement releases it, and is part of the release sequences
  // of those before, so that reading the last one acquires all.
  std::atomic<int64_t> live_ = 0;

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<AskedCall>> calls_ ABSL_GUARDED_BY(mutex_);
};

// Used by one thread at a time: the one that completes its operation, which
// with callbacks is a thread of gRPC, or the one to which it is handed.
class AskedCall : protected Completion, private Callback {
 public:
  // The source must outlive this. `method` comes from
  // grpc_server_register_method(), with its message as payload; null stands for
  // all methods that are not registered.
  AskedCall(CallSource& source, void* method);
  virtual ~AskedCall();

  AskedCall(const AskedCall&) = delete;
  AskedCall& operator=(const AskedCall&) = delete;

 protected:
  IncomingMessage& request() { return request_; }

  // Is about to ask.
  virtual void OnAsking() {}

  // A call has arrived, with request(). `events` is null on a thread of gRPC.
  virtual void OnArrived(TransportEvents* events) = 0;

  // Called after HandOver(), by the thread that has the worker's turn.
  virtual void OnHandedOver(TransportEvents& /*events*/) {}

  // After each of these, this belongs to another thread, and another call may
  // have arrived in it.

  // Goes to the thread that has this worker's turn, which may be the caller.
  void HandOver(EventQueue& worker);

  // Answer the call. `message` stays until the next call arrives; a reason is
  // static.
  void Reply(grpc_byte_buffer* message);
  void Refuse(grpc_status_code status, const char* reason);

  // Nobody will answer the call, nor ask for another one: the server is being
  // shut down. Called by a thread that has a worker's turn. The request stays
  // as it is.
  void Abandon();

 private:
  friend class CallSource;

  static constexpr int kReplyOperations = 4;
  enum class State { kAsking, kArrived, kHandedOver, kReplying, kRetired };

  void Ask();
  void* tag();
  void StartReply(int operations);
  void OnCallback(bool ok) override { OnOperationOver(ok, nullptr); }
  void OnComplete(bool ok, TransportEvents& events) override;
  void OnOperationOver(bool ok, TransportEvents* events);
  void Retire(TransportEvents* events);
  void Release();

  CallSource& source_;
  void* const method_;
  State state_ = State::kAsking;
  grpc_call* call_ = nullptr;
  grpc_call_details details_;
  grpc_metadata_array metadata_;
  gpr_timespec deadline_;
  int cancelled_ = 0;
  IncomingMessage request_;
  grpc_op reply_operations_[kReplyOperations] = {};
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_ASKED_CALL_H_
