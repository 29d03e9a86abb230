// What the engine needs of an RPC stack, and all it knows of it.
//
// A ProtocolDriver belongs to one service instance and has one Transport per
// worker of its engine. A transport is polled by its worker's thread and calls
// the worker back from inside Poll(), so that everything that an RPC touches
// stays on one thread. The way of an RPC:
//
//   client worker                                server worker
//   Transport::Start(call) ──────request──────▶  Poll ▸ OnRequest(call)
//                                                  ... handler runs ...
//   Poll ▸ OnDone(call)    ◀─────response──────  Transport::Reply(call)
//
// Calls are lent, never copied: a ClientCall belongs to the engine and is lent
// to the transport between Start() and OnDone(); a ServerCall belongs to the
// transport and is lent to the engine between OnRequest() and Reply().

#ifndef DISTBENCH_PROTOCOL_DRIVER_H_
#define DISTBENCH_PROTOCOL_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace distbench {

// Where a call's response size is left to the server.
inline constexpr int64_t kServerDecides = -1;

// For whichever server of a peer gets the call.
inline constexpr int kAnyInstance = -1;

// Where no server has answered.
inline constexpr int kNoInstance = -1;

// What a client connects to: a server, or several that the driver chooses among
// anew for each call.
struct Peer {
  // As the servers' Listen() returned them; at least one.
  std::vector<std::string> addresses;

  // How to choose among several: kRoundRobinPolicy or kPickFirstPolicy
  // (config/driver_options.h). Empty: there is one only, as always with drivers
  // that declare no settings of channels (config/driver_catalog.h).
  std::string policy{};
};

// Peers that are a server each.
inline std::vector<Peer> SingleServers(
    const std::vector<std::string>& addresses) {
  std::vector<Peer> peers;
  for (const std::string& address : addresses) {
    peers.push_back({.addresses = {address}});
  }
  return peers;
}

// An RPC in flight, seen by its client. Sizes are of whole serialised messages.
struct ClientCall {
  // Filled in by the engine before Start().
  int peer = 0;  // index into the peers given to Connect()
  int rpc_index = 0;
  int server_instance = 0;  // or kAnyInstance
  bool warmup = false;
  int64_t request_bytes = 0;
  int64_t response_bytes = kServerDecides;
  int64_t processing_ns = 0;
  int64_t deadline_ns = 0;  // monotonic; 0: none
  absl::string_view trace_context =
      {};  // serialised TraceContext; empty: not traced

  // Filled in by the transport, at the latest when it calls OnDone().
  int64_t sent_ns = 0;  // monotonic: when the request was handed to the stack
  int64_t done_ns = 0;  // monotonic: at the read that delivered the response
  int64_t sent_bytes = 0;       // of the request, as encoded
  int64_t received_bytes = 0;   // of the response
  int responding_instance = 0;  // or kNoInstance
  // Empty: the RPC succeeded. Otherwise the error that the server's reply
  // carries, or of the transport as "CODE_NAME: message". Valid until OnDone()
  // returns.
  absl::string_view error = {};

  // The transport's own, between Start() and OnDone().
  void* transport_state = nullptr;
};

// A request that waits for its reply, seen by the server.
struct ServerCall {
  // Filled in by the transport before OnRequest(). trace_context is valid until
  // Reply().
  int rpc_index = 0;
  int server_instance = 0;  // or kAnyInstance
  bool warmup = false;
  int64_t request_bytes = 0;
  int64_t response_bytes = kServerDecides;  // as the client asks
  int64_t processing_ns = 0;
  int64_t received_ns = 0;  // monotonic
  absl::string_view trace_context = {};

  // Filled in by the engine before Reply(), which reads them before it returns.
  int64_t reply_bytes = 0;
  int reply_instance = 0;
  absl::string_view reply_error = {};  // empty: success

  // The engine's own, between OnRequest() and Reply().
  void* engine_state = nullptr;
};

// Where a transport delivers. Implemented by the engine's worker; called on the
// worker's thread, inside Poll() only, unless that lends its turns. May call
// Start() and Reply().
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  // Whether, while the worker's thread sleeps in Poll(), other threads may run
  // its turns: deliver events, and call EndBorrowedTurn() after them. One
  // thread at a time does any of this, and sees what the one before it did.
  virtual bool LendsTurns() const { return false; }

  // Does what the worker does between two calls of Poll(). Returns when the
  // worker has to do something next of its own accord, as Poll()'s deadline.
  virtual int64_t EndBorrowedTurn() { return 0; }

  // The call has ended, well or not. The transport has let go of it.
  virtual void OnDone(ClientCall* call) = 0;

  // Must be answered by exactly one Reply(), now or later.
  virtual void OnRequest(ServerCall* call) = 0;
};

// One worker's share of a driver. Used by that worker's thread, or who has its
// turn, except for Wake() and RunTurnOrWake().
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends a request. Returns false, and does nothing, while the peer's send
  // queue is full; the caller retries after the next Poll().
  [[nodiscard]] virtual bool Start(ClientCall* call) = 0;

  // Answers a request.
  virtual void Reply(ServerCall* call) = 0;

  // Flushes what Start() and Reply() have gathered, delivers what has happened,
  // and otherwise waits until something happens, Wake() is called or the
  // monotonic clock reaches deadline_ns. Does not wait if deadline_ns has
  // passed. Delivers a bounded number of events, so that timers get their turn.
  virtual void Poll(int64_t deadline_ns, TransportEvents& events) = 0;

  // Makes the current or the next Poll() return early. Any thread.
  virtual void Wake() = 0;

  // As Wake(), for threads that have brought the worker something to do and
  // hold no lock: they may run a turn of it themselves, if its events lend
  // turns. Any thread.
  virtual void RunTurnOrWake() { Wake(); }

  // Cancels every call in flight; each still ends with OnDone().
  virtual void CancelCalls() = 0;
};

// Something that a driver has counted.
struct DriverCounter {
  std::string name;  // such as "handler_threads"
  int64_t value = 0;
};

// One service instance's use of an RPC stack. Methods are called by one thread
// at a time, in the order in which they are listed, but for AbortConnect().
class ProtocolDriver {
 public:
  virtual ~ProtocolDriver() = default;

  // Listens with one transport per worker; from here on the transports may be
  // polled. Returns the address that peers connect to.
  virtual absl::StatusOr<std::string> Listen(int worker_count) = 0;

  // Valid from Listen() to destruction.
  virtual Transport& transport(int worker) = 0;

  // Connects every transport to every server of every peer, and waits until all
  // connections stand. Each transport chooses among the servers of a peer by
  // itself. The error names a server that could not be reached.
  virtual absl::Status Connect(const std::vector<Peer>& peers,
                               absl::Time deadline) = 0;

  // Makes Connect(), now or later, fail soon. Any thread. For drivers whose
  // Connect() may wait.
  virtual void AbortConnect() {}

  // Stops accepting requests and cancels all calls, so that the transports,
  // which must be polled while this runs, deliver the last events. Returns once
  // nothing is in flight that the driver could still deliver.
  virtual void Shutdown() = 0;

  // What the driver has counted since Listen(), in no particular order; the
  // result of a test has it. After Shutdown().
  virtual std::vector<DriverCounter> Counters() const { return {}; }
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_DRIVER_H_
