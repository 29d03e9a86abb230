#ifndef DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"

namespace distbench {

// One connection of a worker to a server, which reconnects when it breaks.
//
// When it breaks, the calls in flight fail. Calls that are started afterwards
// wait for the next attempt to connect: they are sent if it succeeds, and fail
// if it does not. The first attempt comes a millisecond after the failure. The
// delay doubles for each further attempt, up to kMaxBackoffNs. Without calls
// there are no attempts.
class ClientConnection final : public Connection {
 public:
  using Calls = CallTable<ClientConnection>;

  static constexpr int64_t kMinBackoffNs = 1'000'000;
  static constexpr int64_t kMaxBackoffNs = 256'000'000;

  class Listener {
   public:
    // All calls in flight on the connection have failed.
    virtual void OnDown(ClientConnection& connection,
                        const std::string& error) = 0;
    // Work() has something to do from now on.
    virtual void OnDialNeeded(ClientConnection& connection) = 0;

   protected:
    ~Listener() = default;
  };

  // Takes over the connection of a target that has been reached. `calls` holds
  // the calls in flight.
  ClientConnection(ConnectionContext& context, DialTarget target, Calls& calls,
                   Listener& listener);

  bool is_up() const { return is_open(); }
  // Returns whether the connection accepts no more calls for now.
  bool is_full() const { return queued_bytes() >= max_queued_bytes_; }

  // Sends a request or queues it. Sets the call's sent_bytes and, before Poll()
  // returns, its sent_ns.
  void Send(ClientCall& call, uint64_t call_id, const RequestHeader& header) {
    // Must precede Send(), which may flush.
    unstamped_.push_back(&call);
    call.sent_bytes = Connection::Send(FrameKind::kRequest, call_id, header,
                                       call.request_bytes);
    if (!is_open()) RequestDial();
  }

  // Sets the sent_ns of the calls queued since the last flush.
  void StampCalls();

  // Reconnects even if there are no calls.
  void RequestDial();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const;
  void Work(int64_t now_ns);

  // Returns whether Work() must be called before the next OnDialNeeded().
  bool is_dialing() const { return dial_.in_progress() || dial_is_due_; }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  void OnFlush() override { StampCalls(); }
  bool IsInUse() const override;
  void OnBroken(const std::string& reason) override;

  template <FrameKind kind>
  ABSL_ATTRIBUTE_ALWAYS_INLINE StreamError OnReply(const FrameHeader& header,
                                                   absl::string_view head,
                                                   int64_t read_ns,
                                                   TransportEvents& events);
  template <FrameKind kind>
  void ReadReplies(TransportEvents& events);
  void BeginDial(int64_t now_ns);
  void FinishDial();
  void GoDown(const std::string& error);

  const std::string name_;
  const SocketAddress address_;
  const bool expects_times_;
  const int64_t max_queued_bytes_;
  Calls& calls_;
  Listener& listener_;
  std::vector<ClientCall*> unstamped_;  // gathered, not flushed

  Dial dial_;
  bool dial_is_due_ = false;  // waits for dial_ns_
  int64_t dial_ns_ = 0;       // not before; while dialing: not after
  int64_t backoff_ns_ = kMinBackoffNs;
  HeadReader<ResponseHeader> heads_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
