// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How long the RPCs of a connection are away from their client's host, by time
// stamps of its kernel (SO_TIMESTAMPING): from when the last byte of a request
// was handed to the network interface to when the last byte of its reply came
// from there. Neither the scheduler nor a queue of the client is in it.
//
// What there is to know of these stamps:
// - Those of sends come in the socket's error queue, under the position of the
//   send's last byte among all bytes that the socket has sent since stamps were
//   asked for. That is done when the socket has connected and before anything
//   is sent, so that positions are exact whatever was not acknowledged yet.
//   With TLS they are positions of encrypted bytes.
// - A send of which the socket takes only a part may have no stamp, and of
//   several sends that the kernel joins in a segment, only the last one has
//   one. So a stamp also is of what was sent before it and has none. A segment
//   that is sent again has a second stamp, which nobody waits for any more.
// - A stamp of what was received is that of the last segment of which a call
//   has returned a byte. So replies that are read together have the stamp of
//   the last of them. Segments that were joined before (GRO) have the time at
//   which the kernel got them together; by the clock of the interface, that of
//   the first one.
// - The kernel stamps by CLOCK_REALTIME, which somebody may set.

#ifndef DISTBENCH_PROTOCOL_TCP_WIRE_TIME_H_
#define DISTBENCH_PROTOCOL_TCP_WIRE_TIME_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/work_random.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/security/tls_socket.h"

namespace distbench::protocol {

// The time stamps of one socket, whatever its bytes mean. Used by one thread at
// a time.
class SocketStamps {
 public:
  // A send, by the position of its last byte, and when it left.
  struct Sent {
    uint32_t last_byte = 0;
    int64_t left_ns = 0;
  };

  // What was received last.
  struct Received {
    // When it came, in Unix nanoseconds; 0: not stamped.
    int64_t came_ns = 0;
    // How often something was received so far.
    int64_t count = 0;
    // How often the clock of the stamps has been set so far. Stamps from before
    // cannot be compared with those from after.
    int64_t clock_steps = 0;
  };

  // `clock` must outlive this; its Unix time is that of the stamps.
  SocketStamps(int fd, config::WireClock wire_clock,
               const base::Clock& clock = base::RealClock());

  SocketStamps(const SocketStamps&) = delete;
  SocketStamps& operator=(const SocketStamps&) = delete;

  // Asks the kernel for stamps. Call this when the socket has connected, and
  // before anything is sent. Sends are stamped from now on.
  absl::Status Begin();

  // Whether what is sent, and what is received, gets stamps. Without, it costs
  // what it always does.
  void set_stamps_sends(bool stamps) { stamps_sends_ = stamps; }
  void set_stamps_receives(bool stamps) { stamps_receives_ = stamps; }

  // As those of socket.h.
  ssize_t Send(const iovec* pieces, int count, int flags = 0);
  ssize_t SendWithoutCopy(const iovec& piece);
  ssize_t Receive(char* buffer, size_t size);

  // The same for a TLS session, which this must outlive.
  security::SocketCalls Calls();

  // The position of the last byte that was sent.
  uint32_t last_byte() const { return static_cast<uint32_t>(sent_bytes_ - 1); }

  const Received& received() const { return received_; }

  // Takes what is in the socket's error queue. Returns whether there was
  // anything.
  bool Collect();

  // The stamps of sends that were collected since ForgetSent(), in their order.
  absl::Span<const Sent> sent() const { return sent_; }
  void ForgetSent() { sent_.clear(); }

  // What the kernel has reported besides; clears it.
  ZeroCopyReports TakeZeroCopy();

  // Whether any send, and any receive, was stamped so far.
  bool has_stamped_sends() const { return has_stamped_sends_; }
  bool has_stamped_receives() const { return has_stamped_receives_; }

 private:
  ssize_t NoteSent(ssize_t sent);
  bool CollectOne();
  int64_t TimeOf(const WireStamp& stamp) const {
    return wire_clock_ == config::WireClock::kHardware ? stamp.hardware_ns
                                                       : stamp.software_ns;
  }
  void CheckClock();
  int64_t MeasureOffsetNs() const;

  const int fd_;
  const config::WireClock wire_clock_;
  const base::Clock& clock_;
  bool stamps_sends_ = true;
  bool stamps_receives_ = true;
  bool has_stamped_sends_ = false;
  bool has_stamped_receives_ = false;
  uint64_t sent_bytes_ = 0;
  Received received_;
  std::vector<Sent> sent_;
  ZeroCopyReports zero_copy_;

  // Unix time minus monotonic time, which only setting the clock changes.
  int64_t clock_offset_ns_;
};

// Has the host stamp what it receives, as long as this lives. A host does so
// while any socket asks for it, and begins some time after the first one has.
// Without this, the first replies of a test may have no stamps, and of those
// that make their connections anew, any.
class ReceiveStamping {
 public:
  ReceiveStamping();

  // Waits until the host stamps, or it has taken too long.
  void Await();

 private:
  base::FileDescriptor socket_;  // sends to itself
};

// Makes sure that a connection that has exchanged something has stamps of it.
// The error names the network interface and the remedy.
absl::Status CheckStamps(SocketStamps& stamps, int fd,
                         config::WireClock wire_clock);

// The RPCs of one connection that are stamped: all those of a write, or none.
// In the order of the methods for each of them. Outlives the sockets of the
// connection, and does not know them. Used by its worker's thread.
class WireTimes {
 public:
  // `share` of the writes are stamped, drawn with `seed`. The counters must
  // outlive this.
  WireTimes(const config::WireTimeOptions& settings, uint64_t seed,
            StreamCounters& counters);

  WireTimes(const WireTimes&) = delete;
  WireTimes& operator=(const WireTimes&) = delete;

  // The requests of these calls will be written together, as the last ones of
  // queued_bytes that wait. What a byte is is up to the protocol.
  void OnFlush(absl::Span<ClientCall* const> calls, int64_t queued_bytes);

  // The calls will be written, but are not stamped.
  static void Leave(absl::Span<ClientCall* const> calls);

  // Whether what is written now is to be stamped.
  bool awaits_write() const { return next_unwritten_ < next_; }

  // So many of the bytes that waited have been written, the last one of them at
  // this position.
  void OnWritten(int64_t bytes, uint32_t last_byte);

  // There are stamps of sends.
  void OnLeft(absl::Span<const SocketStamps::Sent> sent);

  // Whether a reply that is read now is to be stamped.
  bool awaits_reply() const { return calls_in_flight_ > 0; }

  // Whether a call is stamped, and when it left is not known.
  bool awaits_stamp(const ClientCall& call) const {
    return call.transport_flush >= next_unstamped_;
  }

  // The reply of a call has been read: sets its wire_ns and wire_shared. After
  // the call's done_ns. `others`: calls in flight on the connection.
  void OnReply(ClientCall& call, size_t others,
               const SocketStamps::Received& received);

  // A call has ended without a reply.
  void Forget(ClientCall& call);

  // The connection has closed: its calls are lost.
  void Reset();

 private:
  // The requests that were written together.
  struct Flush {
    int64_t end = 0;         // how many bytes are before its end
    uint32_t last_byte = 0;  // on the socket, once it is written
    int32_t calls = 0;       // in flight
    bool is_shared = false;  // by several calls
    int64_t left_ns = 0;     // 0: not known
  };

  // More flushes without replies than that are not remembered.
  static constexpr uint64_t kMaxFlushes = 65536;

  Flush& At(uint64_t number) { return ring_[number & (ring_.size() - 1)]; }
  Flush* Find(uint64_t number) {
    return number >= first_ && number < next_ ? &At(number) : nullptr;
  }
  uint64_t Add();
  void Grow();
  Flush* Release(ClientCall& call);
  void DropFirst();
  int64_t WireTimeNs(const ClientCall& call, const Flush& flush,
                     int64_t came_ns) const;

  const config::WireTimeOptions settings_;
  StreamCounters& counters_;
  base::WorkRandom random_;

  // Flushes by their numbers, from first_ to before next_; 0 is none. Those
  // before next_unwritten_ have been written, and those before next_unstamped_
  // have their stamps.
  std::vector<Flush> ring_;
  uint64_t first_ = 1;
  uint64_t next_unstamped_ = 1;
  uint64_t next_unwritten_ = 1;
  uint64_t next_ = 1;

  int64_t written_bytes_ = 0;
  int64_t calls_in_flight_ = 0;  // that are stamped
  int64_t clock_steps_ = 0;      // of the socket, that were seen
  uint64_t first_of_clock_ = 1;  // flushes before it are of another time
  int64_t last_receive_ = -1;    // of which a reply was taken
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_WIRE_TIME_H_
