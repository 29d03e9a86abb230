// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/turn_work.h"

namespace distbench::protocol {

class StreamConnection;

// State shared by the connections of one worker.
struct StreamContext {
  // Large enough to make a read worthwhile, and not more than a turn's worth.
  static constexpr size_t kReadBytes = TurnWork::kReceivedBytes;
  // Used while a large payload is skipped.
  static constexpr size_t kMaxReadBytes = 256 * 1024;

  StreamContext(const ConnectionSecurity& security, StreamCounters& counters,
                int64_t spin_ns)
      : security(security),
        counters(counters),
        poller(spin_ns),
        read_buffer(new char[kMaxReadBytes]) {}

  const ConnectionSecurity& security;
  StreamCounters& counters;
  Poller poller;
  const std::unique_ptr<char[]> read_buffer;
  std::vector<StreamConnection*> to_flush;
  uint64_t wire_time_seeds = 0;  // those that were given to connections
};

// One connection of any protocol, from the end of its handshake until it
// closes: when it is written, what the poller watches for, and how it ends.
// Used by its worker's thread.
class StreamConnection : public Poller::Watcher {
 public:
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  // Writes what is queued. Call it for the connections in to_flush, from which
  // a connection that is destroyed disappears.
  void Flush();

  // Closes the connection, and reports why in the next Flush() at the latest.
  void Break(StreamError error);
  bool is_breaking() const { return error_ != StreamError::kNone; }

  // Same, at once. Must not be called while messages are being delivered.
  void BreakNow(StreamError error) {
    Break(error);
    SettleError();
  }

 protected:
  explicit StreamConnection(StreamContext& context) : context_(context) {}
  ~StreamConnection();

  bool is_open() const { return stream_.is_open(); }
  Stream& stream() { return stream_; }

  // Writes to the stream and reads from it from now on. `watched` says whether
  // the poller already watches its socket for this connection; if it cannot,
  // the connection breaks.
  void Open(Stream stream, bool watched);

  // Closes the stream.
  void Close();

  // As Break(), with the stream's own explanation of the error.
  void BreakWithStreamError(StreamError error);

  // Reads once, at most `wanted` bytes into the context's buffer. Returns the
  // number of bytes, or 0 if there are none or the connection has broken.
  size_t ReadSome(size_t wanted);

  // Call this with events that contain EPOLLERR: takes what the kernel reports
  // of sends. Returns the events without EPOLLERR if that was why they have it:
  // an error comes again.
  uint32_t TakeReports(uint32_t epoll_events);

  // Makes the worker call Flush() in this turn.
  void MarkDirty();
  bool is_dirty() const { return is_dirty_; }

  // Whether anything may be written now.
  bool accepts_writes() const {
    return is_open() && !is_full_ && error_ == StreamError::kNone;
  }

  // Call this when the socket has no more room. OnWritable() ends that.
  void OnFull();
  bool waits_for_room() const { return is_full_; }

  // Sets whether to read at all; UpdateInterest() tells the poller.
  void set_reads(bool reads) { reads_ = reads; }
  bool reads() const { return reads_; }
  void UpdateInterest();

  // Called when the socket has room again.
  void OnWritable();

  // Handles an error, if there was one: closes the connection and calls
  // OnBroken(). Must not be called while messages are being delivered.
  void SettleError();

  // Writes as much of what is queued as the stream accepts.
  virtual void Write() = 0;

  // Returns whether the end of the connection would affect anyone.
  virtual bool IsInUse() const = 0;

  // Called when the connection has closed because of an error.
  virtual void OnBroken(const std::string& reason) = 0;

 private:
  StreamContext& context_;
  Stream stream_;
  bool is_dirty_ = false;
  bool is_full_ = false;  // the socket has no room
  bool reads_ = true;
  uint32_t interest_ = 0;  // what the poller watches for
  StreamError error_ = StreamError::kNone;
  std::string details_;  // of some errors
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_CONNECTION_H_
