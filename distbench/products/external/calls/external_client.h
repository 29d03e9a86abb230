// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Calls the gRPC services of external servers, for one worker.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>
#include <grpc/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/object_pool.h"
#include "distbench/base/queues.h"
#include "distbench/products/external/requests/message_source.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::external {

// A request in the form in which gRPC takes it. Used for one after another.
class WireRequest {
 public:
  WireRequest() = default;
  ~WireRequest() { Clear(); }
  WireRequest(const WireRequest&) = delete;
  WireRequest& operator=(const WireRequest&) = delete;

  void Fill(const EncodedRequest& request);
  void Clear();

  const grpc_slice& message() const { return message_; }
  int64_t size_bytes() const { return GRPC_SLICE_LENGTH(message_); }
  std::vector<grpc_metadata>& metadata() { return metadata_; }

 private:
  grpc_slice message_ = grpc_empty_slice();
  std::vector<grpc_metadata> metadata_;
};

// The requests of an RPC, for one worker. If all are the same, they are encoded
// once and share their memory.
class RequestMaker {
 public:
  RequestMaker(const std::string& method, std::unique_ptr<MessageSource> source)
      : method_(grpc_slice_from_copied_string(method.c_str())),
        source_(std::move(source)) {}
  ~RequestMaker() { grpc_slice_unref(method_); }
  RequestMaker(const RequestMaker&) = delete;
  RequestMaker& operator=(const RequestMaker&) = delete;

  const grpc_slice& method() const { return method_; }
  bool server_streams() const { return source_->server_streams(); }

  // Returns the next request, which is either `storage` or shared. The error
  // says which value does not fit.
  absl::StatusOr<WireRequest*> Next(WireRequest& storage);

 private:
  const grpc_slice method_;
  const std::unique_ptr<MessageSource> source_;
  EncodedRequest encoded_;  // kept to reuse its memory
  bool has_shared_ = false;
  WireRequest shared_;
};

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

// Lets no more than a number of events per second pass. In any period of t
// seconds, at most rate * (t + 10 ms) + 1 events pass. Thread-safe.
class RateLimiter {
 public:
  // Requires per_second > 0.
  explicit RateLimiter(double per_second);

  // Lets an event pass and returns 0, or returns the time from which on the
  // next one may pass. Times are monotonic, in nanoseconds.
  int64_t TryPass(int64_t now_ns);

  // Takes back the last event that passed.
  void TakeBack();

 private:
  const int64_t interval_ns_;
  absl::Mutex mutex_;
  // When the next event would be due if all passed evenly.
  int64_t next_due_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// One server, or several among which gRPC chooses.
struct ExternalPeer {
  protocol::Channel channel;
  std::vector<RateLimiter*> limiters;  // of its servers that have a rate
  bool is_held_back = false;           // for the use of the client
};

// A thread of the client's own takes the ends of calls and the time, and then
// brings them to the worker. So times do not depend on what else the worker
// waits for, such as requests of the test.
//
// A call sends one message. If the server streams, the call ends with the
// stream, and the sizes of its responses are added up.
//
// Used by the thread that has the worker's turn.
class ExternalClient final : private EndedCalls {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  using Makers = std::map<int, std::unique_ptr<RequestMaker>>;

  // `makers` make the requests, by RPC index. `wake` is called on another
  // thread when there is something to deliver. The limiters must outlive this.
  // For the alarm, see EventQueue. Throws std::system_error if its thread
  // cannot be started.
  ExternalClient(std::unique_ptr<protocol::WakeTimer::Alarm> alarm,
                 std::vector<ExternalPeer> peers, Makers makers,
                 std::function<void()> wake);

  // Cancels what is in flight, without events.
  ~ExternalClient();

  // As Transport::Start(), for call->peer as an index into the peers. Also
  // returns false if the rate of a server would be exceeded.
  [[nodiscard]] bool Start(protocol::ClientCall* call);

  // Delivers a bounded number of calls that have ended. Returns whether there
  // were any.
  bool Deliver(protocol::TransportEvents& events);

  // Whether there is something to deliver.
  bool has_ended() const { return ended_ != nullptr || !mailbox_.empty(); }

  // The time from which on a call may start that a rate has held back since
  // ForgetRetry(); kNever if there is none.
  int64_t retry_ns() const { return retry_ns_; }
  void ForgetRetry() { retry_ns_ = kNever; }

  // As Transport::Cancel(). The server learns of it.
  static void Cancel(protocol::ClientCall& call);
  void CancelAll();

  // Cancels all calls, including those that are started later.
  void Close();

  bool is_idle() const { return in_flight_.empty(); }

  // How often calls of a peer began to be held back by a rate.
  int64_t held_back() const { return held_back_; }

 private:
  void OnEnded(protocol::Completion& call) override;
  bool MayPass(ExternalPeer& peer);
  PendingCall* TakeEnded();
  void Remove(PendingCall& pending);
  void RunQueue();

  protocol::EventQueue queue_;
  std::vector<ExternalPeer> peers_;
  const Makers makers_;
  const std::function<void()> wake_;
  base::MpscQueue<protocol::Completion> mailbox_;  // calls that have ended
  protocol::Completion* ended_ = nullptr;          // taken from the mailbox
  base::ObjectPool<PendingCall> pool_;
  std::vector<PendingCall*> in_flight_;  // each knows its position
  bool closed_ = false;
  int64_t retry_ns_ = kNever;
  int64_t held_back_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;  // polls the queue
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_
