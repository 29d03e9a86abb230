// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAM_CLIENT_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAM_CLIENT_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_side.h"

namespace distbench::protocol {

// The sent_ns of a call that waits to be sent.
inline constexpr int64_t kNotSent = 0;

// The client's end of one stream. Calls may be sent before it is opened; they
// wait. Once it has ended it is of no further use. Used by the thread that has
// the worker's turn.
class ClientStream final : public CallOwner,
                           public ClientStreamSide,
                           private MessageSender::Owner {
 public:
  using Calls = CallTable<ClientStream>;

  class Listener {
   public:
    // The stream has ended, and gRPC is done with it. Calls that are still in
    // flight on it get no reply. Called once, while the queue is polled.
    virtual void OnEnded(ClientStream& stream) = 0;

   protected:
    ~Listener() = default;
  };

  // Arguments passed by reference must outlive the stream. `calls` holds the
  // calls in flight of all streams; owner is the stream.
  ClientStream(Channel& channel, Calls& calls, StreamCounts& counts,
               Listener& listener)
      : channel_(channel),
        calls_(calls),
        counts_(counts),
        listener_(listener),
        sender_(*this, counts) {}

  // Begins to send. Fails at once if the peer is not connected and cannot be.
  void Open(EventQueue& queue);

  bool is_open() const { return call_ != nullptr; }

  // Sends a request or queues it. Sets the call's sent_bytes, and its sent_ns
  // once it is handed to gRPC; kNotSent until then.
  void Send(ClientCall& call, uint64_t sequence);

  // The number of requests that Send() was given, and that wait.
  int64_t accepted() const { return accepted_; }
  size_t waiting() const { return sender_.waiting(); }

  // Call this before a call ends without a reply. The server is not told: a
  // message that waits is dropped (OnSend), and a late reply is told by its
  // number.
  void Abandon(ClientCall& call);

  // Lets the stream end once everything is sent and answered. No more is sent.
  void Retire();

  // The number of calls that ended with a reply.
  int64_t answered() const { return answered_; }

  // Once it has ended: whether it was told to end, by Retire().
  bool ended_well() const { return retired_ && status() == GRPC_STATUS_OK; }

  // Whether the peer sent something that no server may send.
  bool broke_the_protocol() const { return !violation_.empty(); }

  // Once it has ended: the error of calls in flight.
  std::string Error() const;

 private:
  // StreamSide.
  void OnOperationOver(TransportEvents& /*events*/) override { FinishIfDone(); }

  // MessageSender::Owner.
  bool OnSend(uint64_t sequence) override;
  void OnAllSent() override;

  void OnReceived(bool ok, TransportEvents& events);
  void Deliver(TransportEvents& events);
  void Fail(const char* violation);
  void HalfClose();
  void OnHalfClosed(bool /*ok*/, TransportEvents& /*events*/) {}
  void OnStatus(bool ok, TransportEvents& events);
  void FinishIfDone();

  Channel& channel_;
  Calls& calls_;
  StreamCounts& counts_;
  Listener& listener_;
  MessageSender sender_;
  int64_t accepted_ = 0;
  int64_t answered_ = 0;
  bool retired_ = false;
  bool half_closed_ = false;
  bool ended_ = false;  // the status has arrived
  bool done_ = false;   // OnEnded() was called

  Operation<ClientStream, &ClientStream::OnReceived> receive_{*this};
  Operation<ClientStream, &ClientStream::OnHalfClosed> half_close_{*this};
  Operation<ClientStream, &ClientStream::OnStatus> end_{*this};
  IncomingMessage reply_;
  std::string violation_;  // what was wrong with a reply; empty: nothing
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_STREAM_CLIENT_H_
