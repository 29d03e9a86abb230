// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Calls the gRPC services of external servers, for one worker.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/status.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/queues.h"
#include "distbench/products/external/calls/external_peer.h"
#include "distbench/products/external/calls/external_streams.h"
#include "distbench/products/external/calls/polling_thread.h"
#include "distbench/products/external/calls/wire_request.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"

namespace distbench::external {

// Receives calls that have ended, on the thread that polls the queue, or on the
// worker's if they could not be made.
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
             ExternalPeer& peer, grpc_completion_queue* queue,
             MessageCounts& counts, EndedCalls& ended);

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
  std::string ErrorOfEnd() const;

  protocol::ClientCall* call_ = nullptr;
  EndedCalls* ended_ = nullptr;
  ExternalPeer* peer_ = nullptr;
  size_t channel_ = 0;
  MessageCounts* counts_ = nullptr;
  grpc_call* grpc_call_ = nullptr;  // null: the request could not be made
  WireRequest request_;
  grpc_byte_buffer* request_buffer_ = nullptr;
  grpc_byte_buffer* response_ = nullptr;
  std::string response_error_;  // what was wrong with one
  bool is_stream_ = false;      // the server sends any number of responses
  bool reads_stream_ = false;   // further responses may come
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

// The worker takes the ends of calls and the time at the gRPC queue at which it
// waits. If it waits elsewhere, a thread does so and brings them to the worker:
// that costs a third of the rate, and its times do not depend on what else the
// worker waits for.
//
// A call sends one message. If the server streams, the call ends with the
// stream, and the sizes of its responses are added up. RPCs that stream, and
// are measured by the message, are those of streams().
//
// Used by the thread that has the worker's turn.
class ExternalClient final : private EndedCalls {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // `makers` make the requests, and count what they are as `counts` does.
  // Deliver() must follow each time that the worker has polled the queue, which
  // must outlive this, as must the counts.
  ExternalClient(protocol::EventQueue& queue, std::vector<ExternalPeer> peers,
                 RequestMakers makers, MessageCounts& counts);

  // As above, with the queue of a thread, which wakes the worker when there is
  // something to deliver.
  ExternalClient(std::unique_ptr<PollingThread> thread,
                 std::vector<ExternalPeer> peers, RequestMakers makers,
                 MessageCounts& counts);

  // Cancels what is in flight, without events. The queue must not be polled by
  // the worker meanwhile.
  ~ExternalClient();

  // As Transport::Start(), for call->peer as an index into the peers. Also
  // returns false if the rate of a server would be exceeded.
  [[nodiscard]] bool Start(protocol::ClientCall* call);

  ExternalStreams& streams() { return streams_; }

  // Delivers a bounded number of calls that have ended, and of events of
  // streams. Returns whether there were any.
  bool Deliver(protocol::TransportEvents& events);

  // Whether there is something to deliver.
  bool has_events() const {
    return ended_ != nullptr || !mailbox_.empty() || streams_.has_events();
  }

  // The time from which on a call may start that a rate has held back since
  // ForgetRetry(), or a message of a stream be sent; kNever if there is none.
  int64_t retry_ns() const { return std::min(retry_ns_, streams_.retry_ns()); }
  void ForgetRetry() { retry_ns_ = kNever; }

  // As Transport::Cancel(). The server learns of it.
  static void Cancel(protocol::ClientCall& call);
  void CancelAll();

  // Cancels all calls, including those that are started later.
  void Close();

  bool is_idle() const { return in_flight_.empty() && streams_.is_idle(); }

  // How often messages began to be held back by a rate.
  int64_t held_back() const;

 private:
  void OnEnded(protocol::Completion& call) override;
  PendingCall* TakeEnded();
  void Remove(PendingCall& pending);
  void WakeSoon();

  const std::unique_ptr<PollingThread> thread_;  // null: the worker polls
  protocol::EventQueue& queue_;
  std::vector<ExternalPeer> peers_;
  const RequestMakers makers_;
  MessageCounts& counts_;
  const std::function<void()> wake_soon_ = [this] { WakeSoon(); };
  base::MpscQueue<protocol::Completion> mailbox_;  // calls that have ended
  protocol::Completion* ended_ = nullptr;          // taken from the mailbox
  base::ObjectPool<PendingCall> pool_;
  std::vector<PendingCall*> in_flight_;  // each knows its position
  bool closed_ = false;
  int64_t retry_ns_ = kNever;
  ExternalStreams streams_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_
