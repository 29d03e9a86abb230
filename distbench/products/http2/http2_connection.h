// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_HTTP2_HTTP2_CONNECTION_H_
#define DISTBENCH_PRODUCTS_HTTP2_HTTP2_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/products/http2/session.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::http2 {

// What one http2 driver counts. Thread-safe.
struct Http2Counters : protocol::StreamCounters {
  // How often all messages of a connection had to wait for the peer: for room
  // in its windows, and for its limit of concurrent streams.
  std::atomic<int64_t> window_waits = 0;
  std::atomic<int64_t> stream_limit_waits = 0;

  // Streams that the peer has reset.
  std::atomic<int64_t> reset_streams = 0;

  // Requests that were no data RPCs, or malformed.
  std::atomic<int64_t> refused_requests = 0;

  // Requests for which the connection's others left no room.
  std::atomic<int64_t> unkept_requests = 0;

  // Requests of which no more bytes came, so that the server gave them up.
  std::atomic<int64_t> overdue_requests = 0;

  // All counters that are not zero, by name.
  std::vector<protocol::DriverCounter> List() const;
};

inline constexpr char kGenericRpcMethod[] = "/distbench.Traffic/GenericRpc";

// State shared by the connections of one worker.
struct Http2Context : protocol::StreamContext {
  Http2Context(const Http2Settings& settings,
               const protocol::ConnectionSecurity& security,
               Http2Counters& counters)
      : StreamContext(security, counters, settings.spin_ns),
        settings(settings),
        http2_counters(counters) {}

  const Http2Settings settings;
  Http2Counters& http2_counters;
};

// A connection with its session. Used by its worker's thread.
class Http2Connection : public protocol::StreamConnection {
 protected:
  explicit Http2Connection(Http2Context& context)
      : StreamConnection(context), context_(context) {}
  ~Http2Connection() = default;

  Http2Context& context() { return context_; }

  // What waits for the socket in memory; that which waits for the peer's
  // windows is limited by the number of streams.
  int64_t queued_bytes() const { return session_->waiting_frame_bytes(); }

  // Takes over a session, whose handler has been set. There is none before, and
  // none after the connection has closed.
  void StartSession(std::unique_ptr<Http2Session> session);
  Http2Session* session() { return session_.get(); }
  const Http2Session* session() const { return session_.get(); }

  // Closes the connection at once.
  void Close();

  // Reads once and delivers what has arrived, during which events() is valid
  // and read_ns() is the time of the read.
  void Read(protocol::TransportEvents& events);
  protocol::TransportEvents* events() { return events_; }
  int64_t read_ns() const { return read_ns_; }

  // Called before anything is written, and, of connections that take time
  // stamps, when unwritten() has been.
  virtual void OnFlush() {}
  virtual void OnWritten(int64_t /*unwritten*/) {}

  // What waits to be written is one piece: a message's frames are made while
  // they are written.
  static constexpr int64_t unwritten() { return 1; }

  // Whether messages wait for the peer's windows or its limit of streams.
  virtual bool AnyWaits() const { return session_->queued_bytes() > 0; }

  // Called when the connection has closed because of an error.
  virtual void OnLost(const std::string& reason) = 0;

 private:
  void Write() final;
  void OnBroken(const std::string& reason) final;

  void NoteWait();

  Http2Context& context_;
  std::unique_ptr<Http2Session> session_;
  Http2Session::Wait wait_ = Http2Session::Wait::kNone;
  protocol::TransportEvents* events_ = nullptr;  // while something is delivered
  int64_t read_ns_ = 0;
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_HTTP2_CONNECTION_H_
