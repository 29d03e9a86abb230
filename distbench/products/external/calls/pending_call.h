#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_PENDING_CALL_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_PENDING_CALL_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/status.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "distbench/products/external/calls/wire_request.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::external {

// Receives calls that have ended, on the thread that polls the queue.
class EndedCalls {
 public:
  virtual void OnEnded(protocol::Completion& call) = 0;

 protected:
  ~EndedCalls() = default;
};

// A call of an external server with all that gRPC needs for it. Used again for
// further calls. Start() ▸ OnEnded() ▸ Finish() ▸ Release()
class PendingCall final : public protocol::Completion {
 public:
  PendingCall();
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  // Sends a request; its end goes to `ended`. If the request cannot be made,
  // the call has ended before this returns.
  void Start(protocol::ClientCall& call, RequestMaker* requests,
             const protocol::Channel& channel, grpc_completion_queue* queue,
             EndedCalls& ended);

  // Any thread may call it until Release().
  void Cancel();

  // Completes the ClientCall and returns it. Its error is valid until
  // Release().
  protocol::ClientCall& Finish();
  void Release();

  size_t position = 0;  // for the use of the owner

 private:
  static constexpr int kOperations = 6;

  void OnComplete(bool ok, protocol::TransportEvents& events) override;
  void StartBatch(const grpc_op* operations, size_t count);
  void Fail(const absl::Status& status);
  bool TakeResponse();

  protocol::ClientCall* call_ = nullptr;
  EndedCalls* ended_ = nullptr;
  grpc_call* grpc_call_ = nullptr;  // null: the request could not be made
  WireRequest request_;
  grpc_byte_buffer* request_buffer_ = nullptr;
  protocol::IncomingMessage response_;
  bool is_stream_ = false;     // the server sends any number of responses
  bool reads_stream_ = false;  // further responses may come
  int responses_ = 0;
  int64_t received_bytes_ = 0;
  int64_t done_ns_ = 0;
  grpc_op operations_[kOperations] = {};
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
  std::string error_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_PENDING_CALL_H_
