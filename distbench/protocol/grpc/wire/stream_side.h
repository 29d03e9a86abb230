// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Calls of gRPC that stream, as their two sides have them: the call, the
// batches of operations that are started on it, and its end.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_

#include <grpc/grpc.h>
#include <grpc/slice.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"

namespace distbench::protocol {

// What both sides have. Used by the thread that has the worker's turn. Must not
// be destroyed while gRPC has an operation.
class StreamSide {
 public:
  StreamSide(const StreamSide&) = delete;
  StreamSide& operator=(const StreamSide&) = delete;

  // Makes the stream end soon.
  void Cancel() { grpc_call_cancel(call_, nullptr); }

 protected:
  // An operation in gRPC, whose end calls a method of a subclass, and then
  // OnOperationOver().
  template <typename Side, void (Side::*method)(bool ok, TransportEvents&)>
  struct Operation final : Completion {
    explicit Operation(Side& side) : side(side) {}
    void OnComplete(bool ok, TransportEvents& events) override {
      (side.*method)(ok, events);
      StreamSide& base = side;
      --base.operations_;
      base.OnOperationOver(events);
    }
    Side& side;
  };

  StreamSide() = default;
  ~StreamSide();

  // Starts operations, whose end is that of `completion`, an Operation.
  void Start(absl::Span<const grpc_op> operations, Completion& completion);
  void Receive(IncomingMessage& message, Completion& completion);

  // An operation is over, and its method was called. May destroy this.
  virtual void OnOperationOver(TransportEvents& events) = 0;

  grpc_call* call_ = nullptr;
  int operations_ = 0;  // in gRPC
};

// The side that makes the call.
class ClientStreamSide : public StreamSide {
 protected:
  ClientStreamSide() = default;
  ~ClientStreamSide();

  // Makes a call of `method`. `end` completes when its status has arrived.
  void Open(grpc_channel* channel, EventQueue& queue, const char* method,
            gpr_timespec deadline, Completion& end);

  // What has arrived with the status.
  grpc_status_code status() const { return status_; }
  absl::string_view status_message() const { return ViewOf(status_message_); }
  absl::Span<const grpc_metadata> trailing_metadata() const {
    return {trailing_metadata_.metadata, trailing_metadata_.count};
  }

 private:
  grpc_metadata_array initial_metadata_ = {};
  grpc_metadata_array trailing_metadata_ = {};
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();
};

class ServerStreams;

// The side that accepts the call: from the time it is asked for until it is
// over, and the engine has answered all that it got from it.
class ServerStreamSide : public StreamSide {
 public:
  // The owner must outlive this.
  explicit ServerStreamSide(ServerStreams& owner) : owner_(owner) {}
  virtual ~ServerStreamSide() { grpc_metadata_array_destroy(&metadata_); }

 protected:
  // There is a call.
  virtual void OnAccepted() = 0;

  // It has ended(): nothing can be sent any more.
  virtual void OnEnded(TransportEvents& events) = 0;

  // Whether the engine has something to answer.
  virtual bool is_lent() const = 0;

  bool ended() const { return ended_; }

  // Lets go of this if it is over. The owner destroys it later.
  void Settle();

 private:
  friend class ServerStreams;

  void Ask();
  void OnAsked(bool ok, TransportEvents& events);
  void OnClosed(bool ok, TransportEvents& events);

  ServerStreams& owner_;
  size_t position_ = 0;  // among the owner's streams
  bool ended_ = false;
  bool settled_ = false;
  grpc_metadata_array metadata_ = {};
  gpr_timespec deadline_ = {};
  int cancelled_ = 0;
  Operation<ServerStreamSide, &ServerStreamSide::OnAsked> ask_{*this};
  Operation<ServerStreamSide, &ServerStreamSide::OnClosed> closed_{*this};
};

// The calls of one method that streams, which arrive at a worker's own queue.
// Asks for them, and owns them. Used by the thread that polls the queue, except
// for Serve().
class ServerStreams {
 public:
  // gRPC can deliver `ahead` calls before we ask for more. The queue must
  // outlive this.
  ServerStreams(EventQueue& queue, int ahead) : queue_(queue), ahead_(ahead) {}

  ServerStreams(const ServerStreams&) = delete;
  ServerStreams& operator=(const ServerStreams&) = delete;

  // Starts to accept calls of `method`, which comes from
  // grpc_server_register_method(). Call this before the queue is polled.
  void Serve(grpc_server* server, void* method);

  // Accepts no more calls: the server is shutting down.
  void Close() { closed_ = true; }
  bool is_closed() const { return closed_; }

  // Returns whether, after Close(), gRPC has finished all work for this.
  bool drained() const { return active_ == 0; }

 protected:
  // Requires that drained() holds.
  ~ServerStreams();

  virtual std::unique_ptr<ServerStreamSide> MakeSide() = 0;

 private:
  friend class ServerStreamSide;

  void Accept();
  void DestroySoon(ServerStreamSide& side);

  EventQueue& queue_;
  const int ahead_;
  grpc_server* server_ = nullptr;
  void* method_ = nullptr;
  std::vector<std::unique_ptr<ServerStreamSide>> sides_;
  // Those that are over, perhaps in a function that has not returned.
  std::vector<std::unique_ptr<ServerStreamSide>> dead_;
  int active_ = 0;  // sides with an operation in gRPC
  bool closed_ = false;
};

// What the streams of one driver have counted, on both sides. Thread-safe.
struct StreamCounts {
  // Streams that were opened by this side, and those of them that ended with
  // calls in flight, or because of a wrong reply.
  std::atomic<int64_t> opened = 0;
  std::atomic<int64_t> failed = 0;

  // Messages that could not be handed to gRPC at once, because the stream was
  // not open or gRPC had not taken the one before, and for how long any waited.
  std::atomic<int64_t> messages_waited = 0;
  std::atomic<int64_t> blocked_ns = 0;

  // Replies to calls that had already ended, by a deadline or by cancellation.
  std::atomic<int64_t> late_replies = 0;

  // All counts that are not zero, by name.
  std::vector<DriverCounter> List() const;
};

// Sends the messages of one side of a stream.
//
// gRPC takes one message of a stream at a time. It is done with a message when
// the connection's flow control has let it through; until then the next ones
// wait here. While others wait, gRPC is told that more follow, so that small
// messages share a write to the socket.

// Used by the thread that has the worker's turn.
class MessageSender final : private Completion {
 public:
  class Owner {
   public:
    // The message is about to be handed to gRPC. Returns false if nobody needs
    // it any more; then it is dropped, if possible.
    virtual bool OnSend(uint64_t sequence) = 0;

    // No message is in gRPC, and none waits.
    virtual void OnAllSent() = 0;

   protected:
    ~Owner() = default;
  };

  // Both must outlive this.
  MessageSender(Owner& owner, StreamCounts& counts)
      : owner_(owner), counts_(counts) {}

  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;

  // Messages are sent on this call from now on, preceded by initial metadata.
  // is_sending() must not hold when the call is released.
  void Open(grpc_call* call);

  // Sends a message or queues it. See OutgoingMessage for header and size.
  // Returns the message's size. Must not be called after Drop().
  template <typename Header>
  int64_t Send(uint64_t sequence, const Header& header, int64_t target_bytes);

  // Drops the messages that wait: the stream has ended.
  void Drop();

  bool is_open() const { return call_ != nullptr; }
  bool is_sending() const { return sending_ != nullptr; }
  size_t waiting() const { return waiting_; }

  // Whether the call has been given its initial metadata.
  bool metadata_sent() const { return metadata_sent_; }

 private:
  struct Message {
    OutgoingMessage content;
    uint64_t sequence = 0;
    Message* next = nullptr;
  };

  void OnComplete(bool ok, TransportEvents& events) override;
  void Queue(Message& message);
  Message& TakeFirst();
  void SendNext();
  void Start(Message& message);

  Owner& owner_;
  StreamCounts& counts_;
  grpc_call* call_ = nullptr;
  bool metadata_sent_ = false;
  // Whether gRPC may hold back what it was given, because more follows.
  bool held_back_ = false;
  Message* sending_ = nullptr;
  Message* first_ = nullptr;  // of those that wait
  Message* last_ = nullptr;
  size_t waiting_ = 0;
  int64_t blocked_since_ns_ = 0;  // while messages wait
  base::ObjectPool<Message> pool_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_STREAM_SIDE_H_
