// Sends the messages of one side of a stream.
//
// gRPC takes one message of a stream at a time. It is done with a message when
// the connection's flow control has let it through; until then the next ones
// wait here. While others wait, gRPC is told that more follow, so that small
// messages share a write to the socket.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_SENDER_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_SENDER_H_

#include <grpc/grpc.h>

#include <cstddef>
#include <cstdint>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "distbench/protocol/grpc/wire/stream_counts.h"

namespace distbench::protocol {

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

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_SENDER_H_
