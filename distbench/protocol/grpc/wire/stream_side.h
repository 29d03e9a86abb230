// Calls of gRPC that stream, as their two sides have them: the call, the
// batches of operations that are started on it, and its end.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {

// What both sides have. Used by the thread that has the worker's turn. Must not
// be destroyed while gRPC has an operation.
class StreamSide {
 public:
  StreamSide(const StreamSide&) = delete;
  StreamSide& operator=(const StreamSide&) = delete;

  // Makes the stream end soon.
  void Cancel() { grpc_call_cancel(call_, nullptr); }

 protected:
  // An operation in gRPC, whose end calls a method of a subclass, and then
  // OnOperationOver().
  template <typename Side, void (Side::*method)(bool ok, TransportEvents&)>
  struct Operation final : Completion {
    explicit Operation(Side& side) : side(side) {}
    void OnComplete(bool ok, TransportEvents& events) override {
      (side.*method)(ok, events);
      StreamSide& base = side;
      --base.operations_;
      base.OnOperationOver(events);
    }
    Side& side;
  };

  StreamSide() = default;
  ~StreamSide();

  // Starts operations, whose end is that of `completion`, an Operation.
  void Start(absl::Span<const grpc_op> operations, Completion& completion);
  void Receive(IncomingMessage& message, Completion& completion);

  // An operation is over, and its method was called. May destroy this.
  virtual void OnOperationOver(TransportEvents& events) = 0;

  grpc_call* call_ = nullptr;
  int operations_ = 0;  // in gRPC
};

// The side that makes the call.
class ClientStreamSide : public StreamSide {
 protected:
  ClientStreamSide() = default;
  ~ClientStreamSide();

  // Makes a call of `method`. `end` completes when its status has arrived.
  void Open(grpc_channel* channel, EventQueue& queue, const char* method,
            gpr_timespec deadline, Completion& end);

  // What has arrived with the status.
  grpc_status_code status() const { return status_; }
  absl::string_view status_message() const { return ViewOf(status_message_); }
  absl::Span<const grpc_metadata> trailing_metadata() const {
    return {trailing_metadata_.metadata, trailing_metadata_.count};
  }

 private:
  grpc_metadata_array initial_metadata_ = {};
  grpc_metadata_array trailing_metadata_ = {};
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
};

// The side that accepts the call.
class ServerStreamSide : public StreamSide {
 protected:
  ServerStreamSide() = default;
  ~ServerStreamSide() { grpc_metadata_array_destroy(&metadata_); }

  // Asks for a call of `method`, which comes from
  // grpc_server_register_method(). `accepted` completes when there is one, or
  // with !ok when the server shuts down.
  void Ask(grpc_server* server, void* method, EventQueue& queue,
           Completion& accepted);

  // `end` completes when nothing can be sent any more.
  void AwaitEnd(Completion& end);

 private:
  grpc_metadata_array metadata_ = {};
  gpr_timespec deadline_ = {};
  int cancelled_ = 0;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_
