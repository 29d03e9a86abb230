// gRPC's core lets calls of unknown methods wait for a handler. This class
// answers them instead.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_UNKNOWN_METHOD_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_UNKNOWN_METHOD_H_

#include <grpc/grpc.h>

#include "distbench/protocol/grpc/queue/event_queue.h"

namespace distbench::protocol {

// Answers one call at a time. Used by the thread that polls the queue, except
// for Serve().
class UnknownMethodReplies final : private Completion {
 public:
  UnknownMethodReplies();
  ~UnknownMethodReplies();

  // Must be called before the queue is polled.
  void Serve(grpc_server* server, EventQueue& queue);

  void Close() { closed_ = true; }
  bool drained() const { return state_ == State::kIdle; }

 private:
  enum class State { kIdle, kAccepting, kReplying };

  void OnComplete(bool ok, TransportEvents& events) override;
  void Accept();
  void Reply();

  grpc_server* server_ = nullptr;
  EventQueue* queue_ = nullptr;
  State state_ = State::kIdle;
  bool closed_ = false;
  grpc_call* call_ = nullptr;
  grpc_call_details details_;
  grpc_metadata_array metadata_;
  int cancelled_ = 0;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_UNKNOWN_METHOD_H_
