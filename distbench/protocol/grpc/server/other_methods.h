// Answers to calls that carry no traffic: handshakes, and methods that nobody
// knows.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_

#include <grpc/grpc.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/grpc/queue/event_queue.h"

namespace distbench::protocol {

// Answers handshakes (channel.h) that arrive at a worker's own queue. Used by
// the thread that polls the queue, except for Serve().
class HandshakeReplies {
 public:
  // `nonce` is the test's nonce.
  explicit HandshakeReplies(std::string nonce);
  ~HandshakeReplies();

  // `method` is the result of registering kHandshakeMethod with
  // grpc_server_register_method(). Call this before the queue is polled.
  void Serve(grpc_server* server, void* method, EventQueue& queue);

  void Close() { closed_ = true; }
  bool drained() const { return active_ == 0; }

 private:
  class Call;

  const std::string nonce_;
  grpc_server* server_ = nullptr;
  void* method_ = nullptr;
  EventQueue* queue_ = nullptr;
  bool closed_ = false;
  int active_ = 0;  // calls with an operation in gRPC
  std::vector<std::unique_ptr<Call>> calls_;
};

// gRPC's core lets calls of unknown methods wait for a handler. This class
// answers them instead.

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

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
