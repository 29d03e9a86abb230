// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/loopback/loopback_streams.h"

#include <string>
#include <utility>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {

struct LoopbackStreams::Message final : LoopbackMail {
  enum class Content {
    kRequest,        // to the server
    kCancel,         // to the server
    kResponseTaken,  // to the server
    kRequestTaken,   // to the client
    kResponse,       // to the client
    kEnd,            // to the client, perhaps with a last message
  };

  struct Fields {
    int64_t bytes = kNoMessage;
    bool last = false;
    std::string error = {};  // kEnd
    int instance = kNoInstance;
    int64_t blocked_ns = kNotReported;
  };

  // Sends a message to its end of the stream.
  static void Send(Content content, LoopbackStream& stream, Fields fields) {
    auto message = std::make_unique<Message>(content, stream, fields);
    LoopbackMailbox& receiver =
        message->is_for_server() ? *stream.server : *stream.client;
    receiver.Accept(message.release());
  }
  static void Send(Content content, LoopbackStream& stream) {
    Send(content, stream, Fields());
  }

  Message(Content content, LoopbackStream& stream, Fields fields)
      : content(content),
        stream(stream.shared_from_this()),
        fields(std::move(fields)) {
    kind = content == Content::kRequest ? Kind::kStreamRequest
                                        : Kind::kStreamOther;
  }

  bool is_for_server() const { return content <= Content::kResponseTaken; }

  // LoopbackMail.
  void Return() override {
    if (is_request()) {
      Send(Content::kEnd, *stream, {.error = kLoopbackShutDown});
    }
    delete this;
  }

  const Content content;
  const std::shared_ptr<LoopbackStream> stream;
  const Fields fields;
};

void LoopbackStream::Abandon(ClientCall& /*call*/) {
  const std::shared_ptr<LoopbackStream> keep = std::exchange(self, nullptr);
  LoopbackStreams::Message::Send(LoopbackStreams::Message::Content::kCancel,
                                 *keep);
}

void LoopbackStreams::Open(ClientCall* call) {
  auto stream = std::make_shared<LoopbackStream>();
  stream->client = mailbox_.shared_from_this();
  stream->server = peers_[call->peer].Choose().shared_from_this();
  stream->trace_bytes = std::string(call->trace_context);
  stream->rpc_index = call->rpc_index;
  stream->server_instance = call->server_instance;
  stream->warmup = call->warmup;
  stream->trace_context = stream->trace_bytes;
  stream->id = calls_.Start(call, stream.get());
  call->transport_state = stream.get();
  call->sent_ns = clock_.MonotonicNs();
  call->sent_bytes = 0;
  stream->self = std::move(stream);
}

int64_t LoopbackStreams::Write(ClientCall& call, int64_t bytes, bool last) {
  // A call that was given up has no stream until its end is delivered.
  if (call.transport_state == nullptr) return bytes;
  auto& stream = *static_cast<LoopbackStream*>(call.transport_state);
  payload::RequestHeader header = HeaderOf(call);
  // Only the first message has it.
  if (call.sent_bytes > 0) header.trace_context = {};
  const int64_t sent_bytes =
      payload::LayOutMessage(header, bytes).total_bytes();
  call.sent_bytes += sent_bytes;
  Message::Send(Message::Content::kRequest, stream,
                {.bytes = sent_bytes, .last = last});
  return sent_bytes;
}

namespace {

int64_t ResponseBytes(const ServerCall& call, int64_t bytes) {
  const payload::ResponseHeader header = {.server_instance =
                                              call.reply_instance};
  return payload::LayOutMessage(header, bytes).total_bytes();
}

}  // namespace

int64_t LoopbackStreams::Write(ServerCall& call, int64_t bytes) {
  const int64_t sent_bytes = ResponseBytes(call, bytes);
  Message::Send(Message::Content::kResponse, static_cast<LoopbackStream&>(call),
                {.bytes = sent_bytes});
  return sent_bytes;
}

void LoopbackStreams::Finish(ServerCall* call, int64_t last_message_bytes,
                             int64_t blocked_ns) {
  auto& stream = static_cast<LoopbackStream&>(*call);
  const std::shared_ptr<LoopbackStream> keep = stream.shared_from_this();
  stream.state = LoopbackStream::State::kFinished;
  serving_.back()->serving_position = stream.serving_position;
  std::swap(serving_[stream.serving_position], serving_.back());
  serving_.pop_back();
  Message::Send(Message::Content::kEnd, stream,
                {.bytes = last_message_bytes == kNoMessage
                              ? kNoMessage
                              : ResponseBytes(stream, last_message_bytes),
                 .error = std::string(stream.reply_error),
                 .instance = stream.reply_instance,
                 .blocked_ns = blocked_ns});
}

bool LoopbackStreams::DeliverEnded(StreamEvents* events) {
  if (events == nullptr) return false;
  const bool delivered = calls_.DeliverEnded(clock_, [&](ClientCall* call) {
    call->server_queue_ns = call->server_handler_ns = kNotReported;
    events->OnDone(call, kNotReported);
  });
  if (std::exchange(breaks_, false)) BreakServed(*events);
  return delivered;
}

// The engine still finishes them, of which the clients are not told.
void LoopbackStreams::BreakServed(StreamEvents& events) {
  const int64_t now_ns = clock_.MonotonicNs();
  const std::vector<std::shared_ptr<LoopbackStream>> served = serving_;
  for (const std::shared_ptr<LoopbackStream>& stream : served) {
    if (stream->state != LoopbackStream::State::kServed) continue;
    stream->state = LoopbackStream::State::kBroken;
    Message::Send(Message::Content::kEnd, *stream, {.error = kLoopbackBroken});
    events.OnBroken(*stream, now_ns);
  }
}

void LoopbackStreams::Deliver(LoopbackMail& mail, StreamEvents* events) {
  const std::unique_ptr<Message> message(static_cast<Message*>(&mail));
  if (message->is_for_server()) {
    DeliverToServer(*message, events);
  } else {
    DeliverToClient(*message, events);
  }
}

void LoopbackStreams::DeliverToServer(Message& message, StreamEvents* events) {
  using State = LoopbackStream::State;
  LoopbackStream& stream = *message.stream;
  const int64_t now_ns = clock_.MonotonicNs();
  if (stream.state == State::kNew) {
    if (!message.is_request()) return;
    if (mailbox_.is_closed() || events == nullptr) {
      stream.state = State::kFinished;
      Message::Send(Message::Content::kEnd, stream,
                    {.error = kLoopbackShutDown});
      return;
    }
    stream.state = State::kServed;
    stream.serving_position = serving_.size();
    serving_.push_back(message.stream);
    stream.received_ns = now_ns;
    events->OnOpened(&stream);
  }
  if (stream.state != State::kServed) return;
  if (message.content == Message::Content::kCancel) {
    stream.state = State::kBroken;
    events->OnBroken(stream, now_ns);
    return;
  }
  if (message.content == Message::Content::kResponseTaken) {
    events->OnWritten(stream, now_ns);
    return;
  }
  if (!message.fields.last) {
    Message::Send(Message::Content::kRequestTaken, stream);
  }
  events->OnMessage(stream, message.fields.bytes, now_ns);
  if (message.fields.last && stream.state == State::kServed) {
    events->OnRequestsOver(stream, now_ns);
  }
}

void LoopbackStreams::DeliverToClient(Message& message, StreamEvents* events) {
  LoopbackStream& stream = *message.stream;
  Calls::Entry* entry;
  if (calls_.Find(stream.id, entry) != Calls::Match::kFound) return;
  ClientCall& call = *entry->call;
  const Message::Fields& fields = message.fields;
  const int64_t now_ns = clock_.MonotonicNs();
  if (message.content == Message::Content::kRequestTaken) {
    events->OnWritten(call, now_ns);
    return;
  }
  if (message.content == Message::Content::kResponse) {
    Message::Send(Message::Content::kResponseTaken, stream);
  }
  if (fields.bytes != kNoMessage) {
    events->OnMessage(call, fields.bytes, now_ns);
  }
  // The engine may have given the call up meanwhile.
  if (message.content != Message::Content::kEnd ||
      calls_.Find(stream.id, entry) != Calls::Match::kFound) {
    return;
  }
  calls_.Remove(*entry);
  stream.self.reset();
  call.transport_state = nullptr;
  call.done_ns = now_ns;
  call.responding_instance = fields.instance;
  call.server_queue_ns = call.server_handler_ns = kNotReported;
  call.error = fields.error;
  events->OnDone(&call, fields.blocked_ns);
}

void LoopbackStreams::Detach() {
  calls_.ForEach([](Calls::Entry& entry) { entry.owner->self.reset(); });
  serving_.clear();
}

}  // namespace distbench::protocol
