// A call of gRPC as a server sees one: it asks gRPC for a call, gets one with
// its message, answers it, and asks for the next.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_ASKED_CALL_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_ASKED_CALL_H_

#include <grpc/grpc.h>

#include <atomic>
#include <cstdint>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/callback_queue.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {

// What the calls of a server side share.
struct ServerPlace {
  EventQueue& queue;  // of the worker
  // Where operations complete; null: on the worker's own queue.
  const CallbackQueue* callbacks = nullptr;
  grpc_server* server = nullptr;

  // Calls that anybody has but the engine. Only counted down by the thread that
  // has the worker's turn, so that nothing follows once this is 0.
  std::atomic<int64_t> active = 0;

  // No more calls reach the engine. Set by the thread that has the turn.
  std::atomic<bool> closed = false;
};

// Until it is Lent(), a call is used by one thread at a time: the thread of
// gRPC that completes its operation or the one that has the worker's turn.
class AskedCall : protected Completion, private Callback {
 public:
  // The place must outlive this. `method` comes from
  // grpc_server_register_method(), with its message as payload; null stands for
  // all methods that are not registered.
  AskedCall(ServerPlace& place, void* method);
  AskedCall(const AskedCall&) = delete;
  AskedCall& operator=(const AskedCall&) = delete;

  // Asks for the first call. Any thread may call it.
  void Ask();

 protected:
  // Requires that this is not active.
  ~AskedCall();

  ServerPlace& place() { return place_; }
  IncomingMessage& request() { return request_; }

  // Is about to ask.
  virtual void OnAsking() {}

  // A call has arrived, with request(). `events` is null on a thread of gRPC.
  virtual void OnArrived(TransportEvents* events) = 0;

  // The thread that has the worker's turn has taken over after HandOver().
  virtual void OnHandedOver(TransportEvents& /*events*/) {}

  // Goes to the thread that has the worker's turn, which may be this one.
  void HandOver();

  // These are for the thread that has the turn. The engine has the call from
  // now on; it gives it back; or nobody will answer it any more.
  void Lend() { --place_.active; }
  void TakeBack() { ++place_.active; }
  void Drop() { --place_.active; }

  // These answer the call. Another call may have arrived when they return.
  // `message` and `reason` stay until then; a reason is static.
  void Reply(grpc_byte_buffer* message);
  void Refuse(grpc_status_code status, const char* reason);

 private:
  static constexpr int kReplyOperations = 4;
  enum class State { kAsking, kArrived, kHandedOver, kReplying, kRetired };

  void AskAgain();
  grpc_completion_queue* queue() const;
  void* tag();
  void StartReply(int operations);
  void OnCallback(bool ok) override { OnOperationOver(ok, nullptr); }
  void OnComplete(bool ok, TransportEvents& events) override;
  void OnOperationOver(bool ok, TransportEvents* events);
  void Retire(TransportEvents* events);
  void Release();

  ServerPlace& place_;
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
