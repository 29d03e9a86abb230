// Calls the gRPC services of external servers, for one worker.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/base/queues.h"
#include "distbench/products/external/calls/pending_call.h"
#include "distbench/products/external/calls/rate_limiter.h"
#include "distbench/products/external/calls/wire_request.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::external {

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
  // thread when there is something to deliver. The timer and the limiters must
  // outlive this. Throws std::system_error if its thread cannot be started.
  ExternalClient(protocol::WakeTimer& timer, std::vector<ExternalPeer> peers,
                 Makers makers, std::function<void()> wake);

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
