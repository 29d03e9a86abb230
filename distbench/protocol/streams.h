// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs that stream: each end sends any number of messages, at least one. An
// extension of the driver interface for drivers that can do so
// (DriverDeclaration::streams). What is said in driver.h about threads and
// lending holds here, too. The path of an RPC with two messages each way:
//
//   client worker                             server worker
//   Open(call)
//   Write(call, bytes) ────────message─────▶  OnOpened(call)
//   OnWritten(call)                           OnMessage(call, bytes)
//   Write(call, bytes, last) ──message─────▶  OnMessage(call, bytes)
//                                             OnRequestsOver(call)
//                                             ... handler runs ...
//   OnMessage(call, bytes) ◀───message──────  Write(call, bytes)
//                                             OnWritten(call)
//   OnMessage(call, bytes) ◀───message──────  Finish(call, bytes)
//   OnDone(call) ◀─────────────end──────────
//
// Each end writes one message at a time: OnWritten() says that the stack has
// taken it, which flow control delays while the other end or the network does
// not keep up. Both directions are independent. Drivers read at once what
// arrives.
//
// Every RPC ends once at each end. For the client, that is OnDone(), which
// follows Open() in any case: after the server's end, an error, the deadline or
// CancelCalls(). For the server, it is its own Finish(). If the client is gone,
// the server learns that by OnBroken(), and calls Finish() as well.

#ifndef DISTBENCH_PROTOCOL_STREAMS_H_
#define DISTBENCH_PROTOCOL_STREAMS_H_

#include <cstdint>

#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Means that an RPC ends without a further message.
inline constexpr int64_t kNoMessage = -1;

// Implemented by the engine's worker, and called inside Poll(). Calls belong to
// whom they belong in driver.h, and have the same fields set unless noted. All
// times are monotonic.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;

  // The stack has taken the message, and takes another one. Not after the last
  // message of a client.
  virtual void OnWritten(ClientCall& call, int64_t now_ns) = 0;

  // A message of `bytes` has arrived.
  virtual void OnMessage(ClientCall& call, int64_t bytes, int64_t now_ns) = 0;

  // The RPC has ended. sent_bytes and received_bytes of the call are not set;
  // the engine counts. server_blocked_ns is what the server passed to Finish(),
  // or kNotReported.
  virtual void OnDone(ClientCall* call, int64_t server_blocked_ns) = 0;

  // The first message of an RPC has arrived: OnMessage() follows at once,
  // unless the RPC was finished. request_bytes of the call is not set.
  virtual void OnOpened(ServerCall* call) = 0;

  virtual void OnWritten(ServerCall& call, int64_t now_ns) = 0;
  virtual void OnMessage(ServerCall& call, int64_t bytes, int64_t now_ns) = 0;

  // The client has sent its last message.
  virtual void OnRequestsOver(ServerCall& call, int64_t now_ns) = 0;

  // The client is gone. No event follows, and nothing can be sent; only
  // Finish() may be called.
  virtual void OnBroken(ServerCall& call, int64_t now_ns) = 0;
};

class StreamTransport {
 public:
  virtual ~StreamTransport() = default;

  // Begins an RPC, and sets sent_ns of the call. At least one Write() follows
  // at once. The call's peer is read here only.
  virtual void Open(ClientCall* call) = 0;

  // Sends a message; `bytes` is the size of the whole serialised message. Must
  // not be called before OnWritten() for the one before, or after the last.
  // Returns the size that the message has, which cannot be below that of its
  // header.
  virtual int64_t Write(ClientCall& call, int64_t bytes, bool last) = 0;

  // Gives up one RPC; OnDone() follows.
  virtual void CancelStream(ClientCall& call) = 0;

  // As for clients. Reads reply_instance of the call.
  virtual int64_t Write(ServerCall& call, int64_t bytes) = 0;

  // Ends the RPC and returns the call to the transport. If its reply_error is
  // empty, the RPC succeeds, which requires OnRequestsOver(), and that no
  // message is being written; the last message, unless it is kNoMessage, is
  // sent with the end. Otherwise the RPC fails, whatever is being written.
  // blocked_ns is reported to the client.
  virtual void Finish(ServerCall* call, int64_t last_message_bytes,
                      int64_t blocked_ns) = 0;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_STREAMS_H_
