#ifndef DISTBENCH_PROTOCOL_CAPNP_CLIENT_CONNECTION_H_
#define DISTBENCH_PROTOCOL_CAPNP_CLIENT_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/capnp/capnp_connection.h"
#include "distbench/protocol/capnp/message.h"
#include "distbench/protocol/capnp/traffic.capnp.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/client_listener.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/redialer.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/unstamped_calls.h"

namespace distbench {

// One connection of a worker to a server, which reconnects when it breaks, as
// the tcp driver's (tcp/client_connection.h). Cap'n Proto tells the server of
// calls that end without a response.
class CapnpClientConnection final : public CapnpConnection,
                                    public CallOwner,
                                    private Redialer::Owner {
 public:
  using Calls = CallTable<CapnpClientConnection>;
  using Context = CapnpContext;
  using Listener = ClientListener<CapnpClientConnection>;

  static constexpr size_t kMaxTraceBytes = kMaxCapnpStringBytes;

  // Takes over the connection of a target that has been reached; the first call
  // makes one to a target without a stream. `calls` holds the calls in flight.
  CapnpClientConnection(CapnpContext& context, DialTarget target, Calls& calls,
                        Listener& listener);
  ~CapnpClientConnection() { EndSession(); }

  bool is_up() const { return is_open(); }
  // Returns whether the connection accepts no more calls for now.
  bool is_full() const {
    return static_cast<int64_t>(queued_bytes()) + waiting_bytes_ >=
           context_.settings.send_queue_bytes;
  }

  // Queues a request. Sets the call's sent_bytes and, before Poll() returns,
  // its sent_ns.
  void Send(ClientCall& call, uint64_t call_id, const RequestHeader& header);

  // Call this before a call ends without a reply.
  void Abandon(ClientCall& call);

  // Sets the sent_ns of the calls queued since the last flush.
  void StampCalls() { unstamped_.Stamp(); }

  // Reconnects even if there are no calls.
  void RequestDial();

  // The monotonic time at which Work() has something to do, or INT64_MAX.
  int64_t next_due_ns() const { return redialer_.next_due_ns(); }
  void Work(int64_t now_ns) { redialer_.Work(now_ns); }

  // Returns whether Work() must be called before the next OnDialNeeded().
  bool is_dialing() const { return redialer_.is_pending(); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  // A call that Cap'n Proto has. It is over when the call has ended, and
  // returns to the pool when its promise has been dropped.
  struct Exchange {
    ClientCall* call = nullptr;  // null: over
    uint64_t call_id = 0;
    kj::Promise<void> promise = nullptr;
  };

  // CapnpConnection.
  RpcSystem BeginRpc(capnp::TwoPartyVatNetwork& network) override;
  bool IsReady() const override { return is_open(); }
  void OnFlush() override { StampCalls(); }
  void Submit() override;
  void Collect() override;
  void DropPromises() override;
  bool IsInUse() const override { return calls_in_flight() > 0; }
  void OnLost(const std::string& reason) override {
    GoDown(redialer_.LossError(reason));
  }

  // Redialer::Owner.
  void OnConnected(Stream stream) override;
  void OnNotConnected(const std::string& error) override { GoDown(error); }

  void SubmitCall(ClientCall& call, uint64_t call_id);
  void OnResponse(Exchange& exchange, capnp_schema::Message::Reader response);
  void OnException(Exchange& exchange, const kj::Exception& exception);
  ClientCall& End(Exchange& exchange);
  void RemoveCall(uint64_t call_id);
  void GoDown(const std::string& error);

  CapnpContext& context_;
  Calls& calls_;
  Listener& listener_;
  UnstampedCalls unstamped_;

  // The ids of requests that Cap'n Proto does not have yet.
  std::vector<uint64_t> waiting_;
  int64_t waiting_bytes_ = 0;

  // The server's interface; none without a session.
  std::optional<capnp_schema::Traffic::Client> traffic_;

  // Those of one session, and those of them that are over.
  std::unique_ptr<ObjectPool<Exchange>> exchanges_;
  std::vector<Exchange*> over_;
  std::string scratch_;

  Redialer redialer_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_CLIENT_CONNECTION_H_
