// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_streams.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/client/call_parts.h"
#include "distbench/protocol/grpc/wire/message_buffer.h"
#include "glog/logging.h"

namespace distbench::external {
namespace {

// Events per delivery: few enough not to starve timers.
constexpr int kMaxDelivered = 64;

// Responses of a stream of which the worker has yet to learn. Flow control then
// holds back the server, which must not fill the memory.
constexpr int kMaxUndelivered = 1024;

std::string ErrorOf(const absl::Status& status) {
  return protocol::ErrorOf(static_cast<grpc_status_code>(status.code()),
                           status.message());
}

}  // namespace

// A stream, from Open() until the worker has learnt of its end. What it has in
// gRPC is over when its status has arrived, nothing more can be read, and no
// message is being written.
class ExternalStreams::Stream : public protocol::AgendaItem {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // ---- On the worker's turn ----

  void Reset(ExternalStreams& owner, protocol::ClientCall& client,
             ExternalPeer& peer, RequestMaker* requests);

  // Makes the next message. Returns its size; on an error, the stream ends.
  int64_t MakeMessage(int64_t bytes, bool last);

  // Sends that message.
  void Send();

  // Ends the stream, with this error unless it ends otherwise meanwhile.
  void GiveUp(const std::string& error);

  // The worker has learnt of a response.
  void OnDelivered();

  // For the agenda of those that are held.
  int64_t next_due_ns() const;
  void Work(int64_t now_ns);

  // Fills in what the client learns at the end.
  protocol::ClientCall& Finish();
  void Release();

  protocol::ClientCall& client() { return *client_; }
  ExternalPeer& peer() { return *peer_; }
  bool is_given_up() const { return is_given_up_; }

  size_t position = 0;  // among those in flight
  // Where it is if its message waits for a rate; null: it does not.
  HeldStreams* held = nullptr;
  std::list<Stream*>::iterator held_position = {};

 private:
  // An operation in gRPC, whose end calls a method.
  template <void (Stream::*method)(bool ok)>
  struct Operation final : protocol::Completion {
    explicit Operation(Stream& stream) : stream(stream) {}
    void OnComplete(bool ok, protocol::TransportEvents& /*events*/) override {
      (stream.*method)(ok);
    }
    Stream& stream;
  };

  void Begin();
  void Start(absl::Span<const grpc_op> operations,
             protocol::Completion& completion);
  bool AddOperation();

  // On the thread that polls the queue, or, where TakeResponse() leaves it to
  // OnDelivered(), on the worker's turn: never on both.
  void Receive();

  // ---- On the thread that polls the queue ----

  void OnWritten(bool ok);
  void OnReceived(bool ok);
  void OnStatus(bool ok);
  bool TakeResponse();
  void RemoveOperation();

  std::string ErrorOfEnd() const;

  ExternalStreams* owner_ = nullptr;
  protocol::ClientCall* client_ = nullptr;
  ExternalPeer* peer_ = nullptr;
  size_t channel_ = 0;
  RequestMaker* requests_ = nullptr;

  grpc_call* call_ = nullptr;  // null until the first message is sent
  std::atomic<int> operations_ = 0;
  std::atomic<int> undelivered_ = 0;  // responses
  WireRequest storage_;
  WireRequest* request_ = nullptr;
  grpc_byte_buffer* request_buffer_ = nullptr;
  bool is_last_ = false;      // the request
  bool is_given_up_ = false;  // by the worker
  std::string write_error_;   // why

  // Of the thread that polls the queue.
  int64_t responses_ = 0;
  grpc_byte_buffer* response_ = nullptr;
  std::string read_error_;  // what was wrong with a response
  grpc_metadata_array initial_metadata_;
  grpc_metadata_array trailing_metadata_;
  grpc_status_code status_ = GRPC_STATUS_OK;
  grpc_slice status_message_ = grpc_empty_slice();

  std::string error_;  // of the client
  Event written_;
  Event done_;
  Operation<&Stream::OnWritten> write_{*this};
  Operation<&Stream::OnReceived> receive_{*this};
  Operation<&Stream::OnStatus> end_{*this};
};

ExternalStreams::Stream::Stream() {
  grpc_metadata_array_init(&initial_metadata_);
  grpc_metadata_array_init(&trailing_metadata_);
  written_ = {.stream = this, .kind = Event::Kind::kWritten};
  done_ = {.stream = this, .kind = Event::Kind::kDone};
}

ExternalStreams::Stream::~Stream() {
  grpc_metadata_array_destroy(&initial_metadata_);
  grpc_metadata_array_destroy(&trailing_metadata_);
}

void ExternalStreams::Stream::Reset(ExternalStreams& owner,
                                    protocol::ClientCall& client,
                                    ExternalPeer& peer,
                                    RequestMaker* requests) {
  owner_ = &owner;
  client_ = &client;
  peer_ = &peer;
  requests_ = requests;
  is_last_ = is_given_up_ = false;
  responses_ = 0;
  undelivered_ = 0;
  status_ = GRPC_STATUS_OK;
  write_error_.clear();
  read_error_.clear();
  client.transport_state = this;
  client.sent_ns = base::NowNs();
}

int64_t ExternalStreams::Stream::MakeMessage(int64_t bytes, bool last) {
  if (is_given_up_) return 0;
  if (requests_ == nullptr) {
    GiveUp(ErrorOf(absl::InvalidArgumentError(
        absl::StrCat("RPC ", client_->rpc_index, " has no external call"))));
    return 0;
  }
  is_last_ = last;
  const absl::StatusOr<WireRequest*> made = requests_->Next(
      {.message_bytes = bytes, .has_metadata = call_ == nullptr}, storage_);
  if (!made.ok()) {
    GiveUp(ErrorOf(made.status()));
    return 0;
  }
  request_ = *made;
  return request_->size_bytes();
}

// The end may have come already, and the worker not have learnt of it.
bool ExternalStreams::Stream::AddOperation() {
  int operations = operations_;
  while (operations > 0) {
    if (operations_.compare_exchange_weak(operations, operations + 1)) {
      return true;
    }
  }
  return false;
}

void ExternalStreams::Stream::Send() {
  const bool is_first = call_ == nullptr;
  if (is_first) {
    Begin();
  } else if (!AddOperation()) {
    return;
  }
  if (request_buffer_ != nullptr) grpc_byte_buffer_destroy(request_buffer_);
  request_buffer_ = request_->NewBuffer();
  grpc_op operations[3] = {};
  size_t count = 0;
  if (is_first) {
    grpc_op& metadata = operations[count++];
    metadata.op = GRPC_OP_SEND_INITIAL_METADATA;
    metadata.flags = requests_->metadata_flags();
    metadata.data.send_initial_metadata.count = request_->metadata().size();
    metadata.data.send_initial_metadata.metadata = request_->metadata().data();
  }
  operations[count].op = GRPC_OP_SEND_MESSAGE;
  operations[count++].data.send_message.send_message = request_buffer_;
  if (is_last_) operations[count++].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  Start({operations, count}, write_);
}

// Makes the call, with three operations: its status, responses, and the first
// message, which follows.
void ExternalStreams::Stream::Begin() {
  channel_ = peer_->Take();
  call_ = peer_->MakeCall(channel_, client_->rpc_index, requests_->method(),
                          owner_->queue_.get(), protocol::DeadlineOf(*client_));
  operations_ = 3;
  client_->sent_ns = base::NowNs();
  grpc_op operations[2] = {};
  operations[0].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[0].data.recv_initial_metadata.recv_initial_metadata =
      &initial_metadata_;
  operations[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations[1].data.recv_status_on_client = {&trailing_metadata_, &status_,
                                              &status_message_, nullptr};
  Start(operations, end_);
  Receive();
}

void ExternalStreams::Stream::Start(absl::Span<const grpc_op> operations,
                                    protocol::Completion& completion) {
  CHECK_EQ(grpc_call_start_batch(call_, operations.data(), operations.size(),
                                 &completion, nullptr),
           GRPC_CALL_OK);
}

void ExternalStreams::Stream::GiveUp(const std::string& error) {
  if (std::exchange(is_given_up_, true)) return;
  owner_->LetGo(*this);
  write_error_ = error;
  if (call_ != nullptr) {
    grpc_call_cancel(call_, nullptr);
    return;
  }
  done_.now_ns = base::NowNs();
  owner_->Push(done_);
}

void ExternalStreams::Stream::OnWritten(bool ok) {
  // One that fails is followed by the status.
  if (ok && !is_last_) {
    written_.now_ns = base::NowNs();
    owner_->Push(written_);
  }
  RemoveOperation();
}

void ExternalStreams::Stream::Receive() {
  grpc_op operation = {};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &response_;
  Start({&operation, 1}, receive_);
}

void ExternalStreams::Stream::OnReceived(bool /*ok*/) {
  if (response_ == nullptr) return RemoveOperation();
  if (TakeResponse()) Receive();
}

// Returns whether to go on at once; otherwise OnDelivered() does.
bool ExternalStreams::Stream::TakeResponse() {
  ++responses_;
  const absl::StatusOr<int64_t> bytes =
      MeasureResponse(*response_, peer_->max_response_bytes(), owner_->counts_);
  // As for all clients, a message is there once it is uncompressed.
  const int64_t now_ns = base::NowNs();
  grpc_byte_buffer_destroy(std::exchange(response_, nullptr));
  if (!read_error_.empty()) return true;
  if (!bytes.ok()) {
    read_error_ = ErrorOf(bytes.status());
    grpc_call_cancel(call_, nullptr);
    return true;
  }
  const bool is_room = ++undelivered_ < kMaxUndelivered;
  owner_->PushMessage(*this, *bytes, now_ns);
  return is_room;
}

// Of the two threads, exactly one sees the limit reached and left.
void ExternalStreams::Stream::OnDelivered() {
  if (undelivered_-- == kMaxUndelivered) Receive();
}

void ExternalStreams::Stream::OnStatus(bool /*ok*/) { RemoveOperation(); }

void ExternalStreams::Stream::RemoveOperation() {
  if (operations_.fetch_sub(1) > 1) return;
  done_.now_ns = base::NowNs();
  owner_->Push(done_);
}

std::string ExternalStreams::Stream::ErrorOfEnd() const {
  if (!read_error_.empty()) return read_error_;
  if (call_ == nullptr || (is_given_up_ && status_ == GRPC_STATUS_CANCELLED)) {
    return write_error_;
  }
  if (status_ != GRPC_STATUS_OK) {
    return ErrorOfCall(status_, protocol::ViewOf(status_message_),
                       peer_->max_response_bytes(), owner_->counts_);
  }
  if (responses_ != 1 && !requests_->server_streams()) {
    return protocol::ErrorOf(GRPC_STATUS_INTERNAL,
                             "the server did not send one response");
  }
  return "";
}

protocol::ClientCall& ExternalStreams::Stream::Finish() {
  error_ = ErrorOfEnd();
  client_->transport_state = nullptr;
  client_->done_ns = done_.now_ns;
  client_->server_queue_ns = protocol::kNotReported;
  client_->server_handler_ns = protocol::kNotReported;
  client_->responding_instance =
      error_.empty() ? client_->server_instance : protocol::kNoInstance;
  client_->error = error_;
  return *client_;
}

void ExternalStreams::Stream::Release() {
  grpc_slice_unref(status_message_);
  status_message_ = grpc_empty_slice();
  // The elements belong to the call; the arrays are used again.
  initial_metadata_.count = 0;
  trailing_metadata_.count = 0;
  storage_.Clear();
  if (call_ == nullptr) return;
  peer_->GiveBack(channel_);
  grpc_byte_buffer_destroy(std::exchange(request_buffer_, nullptr));
  grpc_call_unref(std::exchange(call_, nullptr));
}

ExternalStreams::ExternalStreams(protocol::EventQueue& queue,
                                 std::vector<ExternalPeer>& peers,
                                 const RequestMakers& makers,
                                 MessageCounts& counts,
                                 const std::function<void()>& wake)
    : queue_(queue),
      peers_(peers),
      makers_(makers),
      counts_(counts),
      wake_(wake) {}

ExternalStreams::~ExternalStreams() { CHECK(in_flight_.empty()); }

void ExternalStreams::Open(protocol::ClientCall& call, int peer) {
  Stream& stream = *pool_.Get();
  const auto maker = makers_.find(call.rpc_index);
  stream.Reset(*this, call, peers_[peer],
               maker == makers_.end() ? nullptr : maker->second.get());
  stream.position = in_flight_.size();
  in_flight_.push_back(&stream);
}

int64_t ExternalStreams::Write(protocol::ClientCall& call, int64_t bytes,
                               bool last) {
  Stream& stream = *static_cast<Stream*>(call.transport_state);
  const int64_t size = stream.MakeMessage(bytes, last);
  if (closed_) stream.GiveUp("CANCELLED: the test is ending");
  if (!stream.is_given_up() && !MustWait(stream)) stream.Send();
  return size;
}

// Holds the stream if it must.
bool ExternalStreams::MustWait(Stream& stream) {
  const auto held = held_.find(&stream.peer());
  if (held != held_.end() && !held->second.streams.empty()) {
    Hold(stream, held->second);
    return true;
  }
  const int64_t free_ns = stream.peer().TryPass();
  if (free_ns == 0) return false;
  HeldStreams& first = held_[&stream.peer()];
  first.free_ns = free_ns;
  free_ns_ = std::min(free_ns_, free_ns);
  Hold(stream, first);
  return true;
}

void ExternalStreams::Hold(Stream& stream, HeldStreams& held) {
  stream.held = &held;
  stream.held_position = held.streams.insert(held.streams.end(), &stream);
  deadlines_.Set(stream, stream.next_due_ns());
}

// The message of the stream waits no longer, if it has.
void ExternalStreams::LetGo(Stream& stream) {
  if (stream.held == nullptr) return;
  std::exchange(stream.held, nullptr)->streams.erase(stream.held_position);
  deadlines_.Remove(stream);
}

void ExternalStreams::SendHeld() {
  if (held_.empty()) return;
  const int64_t now_ns = base::NowNs();
  if (now_ns < retry_ns()) return;
  deadlines_.Work(now_ns);
  free_ns_ = kNever;
  for (auto next = held_.begin(); next != held_.end();) {
    HeldStreams& held = next->second;
    if (now_ns >= held.free_ns) SendHeld(held);
    if (held.streams.empty()) {
      next = held_.erase(next);
    } else {
      free_ns_ = std::min(free_ns_, held.free_ns);
      ++next;
    }
  }
}

// Sends as many messages as the rate allows.
void ExternalStreams::SendHeld(HeldStreams& held) {
  while (!held.streams.empty()) {
    Stream& first = *held.streams.front();
    held.free_ns = first.peer().TryPass();
    if (held.free_ns > 0) return;
    LetGo(first);
    first.Send();
  }
}

int64_t ExternalStreams::Stream::next_due_ns() const {
  return held == nullptr || client_->deadline_ns == 0 ? kNever
                                                      : client_->deadline_ns;
}

// A stream that has begun is ended by gRPC at its deadline, also while its
// message waits here.
void ExternalStreams::Stream::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  GiveUp("DEADLINE_EXCEEDED: the rate of --allow_target held it back");
}

void ExternalStreams::Cancel(protocol::ClientCall& call) {
  static_cast<Stream*>(call.transport_state)
      ->GiveUp("CANCELLED: the RPC was given up");
}

void ExternalStreams::CancelAll() {
  for (Stream* stream : in_flight_) {
    stream->GiveUp("CANCELLED: everything is being stopped");
  }
}

void ExternalStreams::Close() {
  closed_ = true;
  CancelAll();
}

void ExternalStreams::Push(Event& event) {
  // Who finds the mailbox empty wakes; until it is emptied, others need not.
  if (mailbox_.Push(&event)) wake_();
}

void ExternalStreams::PushMessage(Stream& stream, int64_t bytes,
                                  int64_t now_ns) {
  for (Event* used = used_.TakeAll(); used != nullptr;) {
    messages_.Put(std::exchange(used, used->next));
  }
  Event& event = *messages_.Get();
  event = {.stream = &stream,
           .kind = Event::Kind::kMessage,
           .now_ns = now_ns,
           .bytes = bytes};
  Push(event);
}

ExternalStreams::Event* ExternalStreams::TakeEvent() {
  if (delivered_ == nullptr) delivered_ = mailbox_.TakeAll();
  if (delivered_ == nullptr) return nullptr;
  return std::exchange(delivered_, delivered_->next);
}

bool ExternalStreams::Deliver(protocol::StreamEvents& events) {
  SendHeld();
  int delivered = 0;
  for (; delivered < kMaxDelivered; ++delivered) {
    Event* const event = TakeEvent();
    if (event == nullptr) break;
    Stream& stream = *event->stream;
    switch (event->kind) {
      case Event::Kind::kWritten:
        events.OnWritten(stream.client(), event->now_ns);
        break;
      case Event::Kind::kMessage:
        events.OnMessage(stream.client(), event->bytes, event->now_ns);
        stream.OnDelivered();
        used_.Push(event);
        break;
      case Event::Kind::kDone:
        events.OnDone(&stream.Finish(), protocol::kNotReported);
        Remove(stream);
        break;
    }
  }
  return delivered > 0;
}

void ExternalStreams::DiscardEvents() {
  while (Event* const event = TakeEvent()) {
    Stream& stream = *event->stream;
    if (event->kind == Event::Kind::kMessage) stream.OnDelivered();
    if (event->kind == Event::Kind::kDone) Remove(stream);
  }
}

void ExternalStreams::Remove(Stream& stream) {
  LetGo(stream);
  in_flight_.back()->position = stream.position;
  std::swap(in_flight_[stream.position], in_flight_.back());
  in_flight_.pop_back();
  stream.Release();
  pool_.Put(&stream);
}

}  // namespace distbench::external
