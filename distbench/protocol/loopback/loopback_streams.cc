#include "distbench/protocol/loopback/loopback_streams.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "distbench/protocol/loopback/loopback_transport.h"

namespace distbench::protocol {

// A streaming RPC, which both ends share. Each touches only its own fields.
struct LoopbackStreams::Stream final
    : ServerCall,
      std::enable_shared_from_this<LoopbackStreams::Stream> {
  // Set before the server sees it.
  std::shared_ptr<LoopbackTransport> client;
  std::shared_ptr<LoopbackTransport> server;
  std::string trace;

  // The client's. Null once the RPC has ended.
  ClientCall* call = nullptr;
  size_t calling_position = 0;

  // The server's.
  enum class State { kNew, kServed, kBroken, kFinished };
  State state = State::kNew;
  size_t serving_position = 0;
};

struct LoopbackStreams::Message {
  enum class Kind {
    kRequest,        // to the server
    kCancel,         // to the server
    kResponseTaken,  // to the server
    kRequestTaken,   // to the client
    kResponse,       // to the client
    kEnd,            // to the client, perhaps with a last message
  };

  Kind kind;
  std::shared_ptr<Stream> stream;
  int64_t bytes = kNoMessage;
  bool last = false;
  std::string error = {};  // kEnd
  int instance = kNoInstance;
  int64_t blocked_ns = kNotReported;
  Message* next = nullptr;
};

namespace {

// Removes an element of a list whose elements know their positions.
template <typename Stream>
void Remove(size_t Stream::*position, Stream& stream,
            std::vector<std::shared_ptr<Stream>>& list) {
  list.back().get()->*position = stream.*position;
  std::swap(list[stream.*position], list.back());
  list.pop_back();
}

}  // namespace

LoopbackStreams::~LoopbackStreams() { DropAll(); }

LoopbackStreams& LoopbackStreams::ClientOf(const Stream& stream) {
  return stream.client->loopback_streams();
}

LoopbackStreams& LoopbackStreams::ServerOf(const Stream& stream) {
  return stream.server->loopback_streams();
}

void LoopbackStreams::Open(ClientCall* call) {
  auto stream = std::make_shared<Stream>();
  stream->client = transport_.shared_from_this();
  stream->server = transport_.ServerOf(*call);
  stream->trace = std::string(call->trace_context);
  stream->rpc_index = call->rpc_index;
  stream->server_instance = call->server_instance;
  stream->warmup = call->warmup;
  stream->trace_context = stream->trace;
  stream->call = call;
  stream->calling_position = calling_.size();
  call->transport_state = stream.get();
  call->sent_ns = clock_.MonotonicNs();
  if (call->deadline_ns != 0) {
    deadlines_.insert({call->deadline_ns, stream.get()});
  }
  calling_.push_back(std::move(stream));
}

int64_t LoopbackStreams::Write(ClientCall& call, int64_t bytes, bool last) {
  Stream& stream = *static_cast<Stream*>(call.transport_state);
  LoopbackStreams& server = ServerOf(stream);
  server.Accept(
      std::make_unique<Message>(Message{.kind = Message::Kind::kRequest,
                                        .stream = stream.shared_from_this(),
                                        .bytes = bytes,
                                        .last = last}));
  if (server.closed_) server.RefuseRequests();
  return bytes;
}

void LoopbackStreams::CancelStream(ClientCall& call) {
  GiveUp(*static_cast<Stream*>(call.transport_state),
         "CANCELLED: the caller gave up");
}

int64_t LoopbackStreams::Write(ServerCall& call, int64_t bytes) {
  Stream& stream = static_cast<Stream&>(call);
  ClientOf(stream).Accept(
      std::make_unique<Message>(Message{.kind = Message::Kind::kResponse,
                                        .stream = stream.shared_from_this(),
                                        .bytes = bytes}));
  return bytes;
}

void LoopbackStreams::Finish(ServerCall* call, int64_t last_message_bytes,
                             int64_t blocked_ns) {
  Stream& stream = static_cast<Stream&>(*call);
  const std::shared_ptr<Stream> keep = stream.shared_from_this();
  stream.state = Stream::State::kFinished;
  Remove(&Stream::serving_position, stream, serving_);
  ClientOf(stream).Accept(std::make_unique<Message>(
      Message{.kind = Message::Kind::kEnd,
              .stream = keep,
              .bytes = last_message_bytes,
              .error = std::string(stream.reply_error),
              .instance = stream.reply_instance,
              .blocked_ns = blocked_ns}));
}

int64_t LoopbackStreams::next_deadline_ns() const {
  return deadlines_.empty() ? std::numeric_limits<int64_t>::max()
                            : deadlines_.begin()->first;
}

bool LoopbackStreams::Deliver(TransportEvents& events) {
  if (!deadlines_.empty()) ExpireDeadlines();
  StreamEvents* const streams = events.stream_events();
  bool delivered = streams != nullptr && DeliverEnded(*streams);
  if (std::exchange(breaks_, false) && streams != nullptr) {
    BreakServed(*streams);
  }
  // At most one message of each direction of each stream.
  Message* message = inbox_.TakeAll();
  while (message != nullptr) {
    const std::unique_ptr<Message> owned(message);
    message = message->next;
    Deliver(*owned, streams);
    delivered = true;
  }
  return delivered;
}

// The engine still finishes them, of which the clients are not told.
void LoopbackStreams::BreakServed(StreamEvents& events) {
  const int64_t now_ns = clock_.MonotonicNs();
  const std::vector<std::shared_ptr<Stream>> served = serving_;
  for (const std::shared_ptr<Stream>& stream : served) {
    if (stream->state != Stream::State::kServed) continue;
    stream->state = Stream::State::kBroken;
    ClientOf(*stream).Accept(std::make_unique<Message>(
        Message{.kind = Message::Kind::kEnd,
                .stream = stream,
                .error = "UNAVAILABLE: the server has broken the connection"}));
    events.OnBroken(*stream, now_ns);
  }
}

// Ends calls that this end gave up.
bool LoopbackStreams::DeliverEnded(StreamEvents& events) {
  if (ended_.empty()) return false;
  std::vector<Ended> ended;
  ended.swap(ended_);
  for (const auto& [call, error] : ended) {
    call->transport_state = nullptr;
    call->done_ns = clock_.MonotonicNs();
    call->responding_instance = kNoInstance;
    call->server_queue_ns = call->server_handler_ns = kNotReported;
    call->error = error;
    events.OnDone(call, kNotReported);
  }
  return true;
}

void LoopbackStreams::ExpireDeadlines() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_deadline_ns() ||
      !late_deadlines_.MayJudge(next_deadline_ns(), now_ns, inbox_.empty())) {
    return;
  }
  while (next_deadline_ns() <= now_ns) {
    GiveUp(*deadlines_.begin()->second, "DEADLINE_EXCEEDED: no answer in time");
  }
}

void LoopbackStreams::Deliver(Message& message, StreamEvents* events) {
  switch (message.kind) {
    case Message::Kind::kRequest:
    case Message::Kind::kCancel:
    case Message::Kind::kResponseTaken:
      DeliverRequest(message, events);
      break;
    case Message::Kind::kRequestTaken:
    case Message::Kind::kResponse:
    case Message::Kind::kEnd:
      if (message.stream->call != nullptr) DeliverResponse(message, *events);
      break;
  }
}

void LoopbackStreams::DeliverRequest(Message& message, StreamEvents* events) {
  using State = Stream::State;
  Stream& stream = *message.stream;
  const int64_t now_ns = clock_.MonotonicNs();
  if (stream.state == State::kNew) {
    if (message.kind != Message::Kind::kRequest) return;
    if (closed_ || events == nullptr) {
      stream.state = State::kFinished;
      Refuse(message.stream);
      return;
    }
    stream.state = State::kServed;
    stream.serving_position = serving_.size();
    serving_.push_back(message.stream);
    stream.received_ns = now_ns;
    events->OnOpened(&stream);
  }
  if (stream.state != State::kServed) return;
  if (message.kind == Message::Kind::kCancel) {
    stream.state = State::kBroken;
    events->OnBroken(stream, now_ns);
    return;
  }
  if (message.kind == Message::Kind::kResponseTaken) {
    events->OnWritten(stream, now_ns);
    return;
  }
  if (!message.last) {
    ClientOf(stream).Accept(std::make_unique<Message>(Message{
        .kind = Message::Kind::kRequestTaken, .stream = message.stream}));
  }
  events->OnMessage(stream, message.bytes, now_ns);
  if (message.last && stream.state == State::kServed) {
    events->OnRequestsOver(stream, now_ns);
  }
}

// Requires that the call has not ended.
void LoopbackStreams::DeliverResponse(Message& message, StreamEvents& events) {
  Stream& stream = *message.stream;
  ClientCall& call = *stream.call;
  const int64_t now_ns = clock_.MonotonicNs();
  if (message.kind == Message::Kind::kRequestTaken) {
    events.OnWritten(call, now_ns);
    return;
  }
  if (message.kind == Message::Kind::kResponse) {
    ServerOf(stream).Accept(std::make_unique<Message>(Message{
        .kind = Message::Kind::kResponseTaken, .stream = message.stream}));
  }
  if (message.bytes != kNoMessage) {
    events.OnMessage(call, message.bytes, now_ns);
  }
  // The engine may have given the call up meanwhile.
  if (message.kind != Message::Kind::kEnd || stream.call == nullptr) return;
  Forget(stream);
  call.transport_state = nullptr;
  call.done_ns = now_ns;
  call.responding_instance = message.instance;
  call.server_queue_ns = call.server_handler_ns = kNotReported;
  call.error = message.error;
  events.OnDone(&call, message.blocked_ns);
}

void LoopbackStreams::CancelAll() {
  while (!calling_.empty()) {
    GiveUp(*calling_.back(), "CANCELLED: the caller gave up");
  }
}

// Ends the RPC for its client, and tells the server.
void LoopbackStreams::GiveUp(Stream& stream, const char* error) {
  const std::shared_ptr<Stream> keep = stream.shared_from_this();
  ended_.push_back({stream.call, error});
  Forget(stream);
  ServerOf(stream).Accept(std::make_unique<Message>(
      Message{.kind = Message::Kind::kCancel, .stream = keep}));
}

// The stream no longer has a ClientCall.
void LoopbackStreams::Forget(Stream& stream) {
  deadlines_.erase({stream.call->deadline_ns, &stream});
  stream.call = nullptr;
  Remove(&Stream::calling_position, stream, calling_);
}

void LoopbackStreams::Accept(std::unique_ptr<Message> message) {
  inbox_.Push(message.release());
  if (detached_) {
    DropAll();
  } else {
    transport_.WakeIfAsleep();
  }
}

void LoopbackStreams::Close() {
  closed_ = true;
  RefuseRequests();
}

void LoopbackStreams::Detach() {
  detached_ = true;
  calling_.clear();
  serving_.clear();
  DropAll();
}

// Nobody may poll any more. Several threads may call this at once: each takes
// messages of its own.
void LoopbackStreams::RefuseRequests() {
  Message* message = inbox_.TakeAll();
  while (message != nullptr) {
    std::unique_ptr<Message> owned(message);
    message = message->next;
    if (owned->kind == Message::Kind::kRequest) {
      Refuse(owned->stream);
    } else {
      inbox_.Push(owned.release());
    }
  }
}

void LoopbackStreams::DropAll() {
  Message* message = inbox_.TakeAll();
  while (message != nullptr) {
    const std::unique_ptr<Message> owned(message);
    message = message->next;
    if (owned->kind == Message::Kind::kRequest) Refuse(owned->stream);
  }
}

void LoopbackStreams::Refuse(const std::shared_ptr<Stream>& stream) {
  ClientOf(*stream).Accept(std::make_unique<Message>(
      Message{.kind = Message::Kind::kEnd,
              .stream = stream,
              .error = "UNAVAILABLE: the instance has shut down"}));
}

}  // namespace distbench::protocol
