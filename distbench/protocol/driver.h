// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The engine's interface to an RPC stack; the engine knows nothing else of it.
//
// A ProtocolDriver belongs to one service instance and has one Transport per
// worker of its engine. The worker's thread polls the transport, which calls
// the worker back from inside Poll(), so that everything an RPC touches stays
// on one thread. The path of an RPC:
//
//   client worker                                server worker
//   Transport::Start(call) ──────request──────▶  Poll ▸ OnRequest(call)
//                                                  ... handler runs ...
//   Poll ▸ OnDone(call)    ◀─────response──────  Transport::Reply(call)
//
// Calls are lent, never copied: a ClientCall belongs to the engine and is lent
// to the transport between Start() and OnDone(); a ServerCall belongs to the
// transport and is lent to the engine between OnRequest() and Reply().
//
// RPCs whose request and response are several messages each have an interface
// of their own, which a driver may offer (streams.h).

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

namespace distbench::protocol {

// The server chooses the response size of the call.
inline constexpr int64_t kServerDecides = -1;

// The call is for whichever server of a peer gets it.
inline constexpr int kAnyInstance = -1;

// No server has answered.
inline constexpr int kNoInstance = -1;

// The server has not said how long it took.
inline constexpr int64_t kNotReported = -1;

// A worker that looks at the time this much later than it wanted to stood
// still. Less is a turn of a busy worker. A response that is read after its
// deadline is late, unless the worker stood still when the deadline passed:
// then a transport first reads what has arrived meanwhile, and what it reads
// was in time.
inline constexpr int64_t kStandstillNs = 5'000'000;

// The target of a connection: one server, or several among which the driver
// chooses for each call.
struct Peer {
  // Addresses returned by the servers' Listen(); at least one. Those of servers
  // outside of the test begin with kOutsidePrefix, and only an extension of a
  // driver can connect to them (registry/registry.h).
  std::vector<std::string> addresses;

  // How to choose among several servers: kRoundRobinPolicy or kPickFirstPolicy
  // (config/plan/driver_options.h). Empty if there is only one, as always with
  // drivers that declare no settings of channels
  // (config/catalogs/driver_catalog.h).
  std::string policy{};
};

// Returns peers of one server each.
inline std::vector<Peer> SingleServers(
    const std::vector<std::string>& addresses) {
  std::vector<Peer> peers;
  for (const std::string& address : addresses) {
    peers.push_back({.addresses = {address}});
  }
  return peers;
}

// An RPC in flight as the client sees it. Sizes are those of whole serialised
// messages.
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
  int64_t sent_ns = 0;     // monotonic: when the stack was handed the request
  int64_t done_ns = 0;     // monotonic: when the response was read
  int64_t sent_bytes = 0;  // size of the encoded request
  int64_t received_bytes = 0;   // size of the response
  int responding_instance = 0;  // or kNoInstance
  // Empty if the RPC succeeded. Otherwise the error in the server's reply, or
  // the transport's error as "CODE_NAME: message". Valid until OnDone()
  // returns.
  absl::string_view error = {};

  // In nanoseconds, as the server reported them: from the arrival of the
  // request until its handler began, and from then until the response was
  // handed to the stack. Filled in for calls that succeed, by drivers that
  // measure time parts (DriverEnvironment); either may be kNotReported.
  int64_t server_queue_ns = kNotReported;
  int64_t server_handler_ns = kNotReported;

  // From when the request left this host to when the reply arrived, by time
  // stamps of the kernel, and whether other calls may share these: then they
  // are those of the last of them. Filled in for calls that succeed, by drivers
  // that stamp (DriverEnvironment); kNotReported if the call was not stamped.
  // At most done_ns - sent_ns.
  int64_t wire_ns = kNotReported;
  bool wire_shared = false;

  // For the transport's use between Start() and OnDone().
  void* transport_state = nullptr;
  uint64_t transport_id = 0;
  uint64_t transport_flush = 0;
};

// A request that waits for its reply, as the server sees it.
struct ServerCall {
  // Filled in by the transport before OnRequest(). trace_context is valid until
  // Reply().
  int rpc_index = 0;
  int server_instance = 0;  // or kAnyInstance
  bool warmup = false;
  int64_t request_bytes = 0;
  int64_t response_bytes = kServerDecides;  // requested by the client
  int64_t processing_ns = 0;
  int64_t received_ns = 0;  // monotonic
  absl::string_view trace_context = {};

  // Filled in by the engine before Reply(), if the test measures time parts:
  // when the handler began, monotonic. It ends with Reply(). What is before it,
  // from the request's arrival, is the server's queue.
  int64_t begun_ns = 0;

  // Filled in by the engine before Reply(), which reads them before it returns.
  int64_t reply_bytes = 0;
  int reply_instance = 0;
  absl::string_view reply_error = {};  // empty: success

  // For the engine's use between OnRequest() and Reply().
  void* engine_state = nullptr;
};

class StreamEvents;
class StreamTransport;

// The receiver of a transport's events, implemented by the engine's worker.
// Called inside Poll() on the worker's thread only, unless the worker lends its
// turns. Implementations may call Start() and Reply().
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  // Whether other threads may run the worker's turns while its thread sleeps in
  // Poll(): deliver events, then call EndBorrowedTurn(). Only one thread at a
  // time does so, and it sees everything that the previous one did.
  virtual bool LendsTurns() const { return false; }

  // Does what the worker does between two calls of Poll(). Returns the time of
  // the worker's next own action, in the form of Poll()'s deadline.
  virtual int64_t EndBorrowedTurn() { return 0; }

  // The call has ended, successfully or not. The transport has returned it.
  virtual void OnDone(ClientCall* call) = 0;

  // The request must get exactly one Reply(), now or later.
  virtual void OnRequest(ServerCall* call) = 0;

  // The receiver of the events of streams. Null: it has no RPCs that stream, so
  // that the transport refuses those of peers.
  virtual StreamEvents* stream_events() { return nullptr; }
};

// Ignores all events.
class NoEvents final : public TransportEvents {
 public:
  void OnDone(ClientCall*) override {}
  void OnRequest(ServerCall*) override {}
};

class EventQueue;

// One worker's share of a driver. Used by the thread that has the worker's
// turn, except for Wake() and RunTurnOrWake().
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends a request. Returns false and does nothing while the peer's send queue
  // is full; the caller retries after the next Poll().
  [[nodiscard]] virtual bool Start(ClientCall* call) = 0;

  // Gives up one call that was started and for which OnDone() has not begun,
  // also while it waits in a send queue. OnDone() follows in Poll(), never
  // inside Cancel(), with an error that begins with "CANCELLED" unless the call
  // has ended otherwise before; to give it up again changes nothing. What the
  // server sees of it depends on the stack (docs/drivers.md). May be called
  // inside Poll(). Returns false, and does nothing, if the stack cannot do so:
  // then the call ends as it ends. The catalogue says which can (cancels_calls
  // in config/catalogs/driver_catalog.h).
  virtual bool Cancel(ClientCall& /*call*/) { return false; }

  // Breaks all connections that clients have to this transport, as if the
  // server's process had died; clients may connect again at once. Replies to
  // requests that came over them are dropped. May be called inside Poll();
  // takes effect in the next Poll() at the latest. Returns how many, without
  // those that are broken already and not made again, or -1 and does nothing if
  // the driver cannot do so (breaks_connections in the catalogue).
  virtual int64_t BreakConnections() { return -1; }

  // Answers a request.
  virtual void Reply(ServerCall* call) = 0;

  // Flushes what Start() and Reply() have queued and delivers what has
  // happened. If nothing has happened, waits for an event, Wake() or the time
  // deadline_ns on the monotonic clock; does not wait if that has passed.
  // Delivers a bounded number of events, so that timers get their turn.
  virtual void Poll(int64_t deadline_ns, TransportEvents& events) = 0;

  // Makes the current or the next Poll() return early. Any thread may call it.
  virtual void Wake() = 0;

  // As Wake(), for threads that have given the worker something to do and hold
  // no lock. They may run a turn of the worker themselves if its events lend
  // turns. Any thread may call it.
  virtual void RunTurnOrWake() { Wake(); }

  // Cancels all calls in flight, also those that stream; each still ends with
  // its event.
  virtual void CancelCalls() = 0;

  // Null if the driver does not stream.
  virtual StreamTransport* streams() { return nullptr; }

  // The gRPC queue at which Poll() waits. Others may start operations of their
  // own on it while the transport lives; these complete inside Poll(), on the
  // thread that polls. Null: Poll() waits elsewhere.
  virtual EventQueue* grpc_queue() { return nullptr; }
};

// A setting of a connection's socket.
struct NetworkReading {
  std::string name;   // as in the traffic config
  std::string asked;  // what the config asks for
  std::string found;  // what the socket had once the connection was made
  bool is_as_asked = true;

  bool operator==(const NetworkReading&) const = default;
};

// Connections whose sockets had the same.
struct ConnectionReadings {
  bool accepted = false;  // else made
  int64_t connection_count = 0;
  std::vector<NetworkReading> settings;
};

// A count made by a driver.
struct DriverCounter {
  std::string name;  // such as "handler_threads"
  int64_t value = 0;
};

// The use of an RPC stack by one service instance. Methods except
// AbortConnect() are called by one thread at a time, in the order of their
// declaration.
class ProtocolDriver {
 public:
  virtual ~ProtocolDriver() = default;

  // Listens with one transport per worker; transports may be polled from then
  // on. Returns the address to which peers connect.
  virtual absl::StatusOr<std::string> Listen(int worker_count) = 0;

  // Valid from Listen() to destruction.
  virtual Transport& transport(int worker) = 0;

  // Connects every transport to every server of every peer, and waits until all
  // connections are established. Each transport chooses among a peer's servers
  // independently. The error names a server that could not be reached.
  virtual absl::Status Connect(const std::vector<Peer>& peers,
                               absl::Time deadline) = 0;

  // Makes the current or the next Connect() fail soon. Any thread may call it.
  // For drivers whose Connect() may wait.
  virtual void AbortConnect() {}

  // Stops accepting requests and cancels all calls. The transports must be
  // polled meanwhile, to deliver the last events. Returns once nothing is in
  // flight that the driver could still deliver.
  virtual void Shutdown() = 0;

  // Returns what the driver has counted since Listen(), in no particular order.
  // The counters appear in the test's result. Call this after Shutdown().
  virtual std::vector<DriverCounter> Counters() const { return {}; }

  // Returns what was read back of the network settings that the options ask
  // for, from the sockets of all connections. They appear in the test's result.
  // Call this after Shutdown().
  virtual std::vector<ConnectionReadings> NetworkReadings() const { return {}; }
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DRIVER_H_
