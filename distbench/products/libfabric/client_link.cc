// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/client_link.h"

#include <utility>

#include "distbench/base/clock.h"
#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {
namespace {

// An answer is overdue after this time, so the server is asked whether it is
// alive.
constexpr int64_t kPatienceNs = 1'000'000'000;

}  // namespace

ClientLink::ClientLink(LinkContext& context, protocol::DialTarget target,
                       Calls& calls, Listener& listener)
    : Link(context),
      name_(std::move(target.name)),
      server_(ParseAddress(name_)->OfWorker(context.worker)),
      reply_kind_(context.settings.measures_time_parts
                      ? protocol::FrameKind::kTimedReply
                      : protocol::FrameKind::kReply),
      max_queued_bytes_(context.settings.send_queue_bytes),
      calls_(calls),
      listener_(listener),
      decoder_(reply_kind_) {
  RequestDial();
}

void ClientLink::Send(protocol::ClientCall& call, uint64_t call_id,
                      const payload::RequestHeader& header) {
  QueuedFrame* const frame = MakeFrame(protocol::FrameKind::kRequest, call_id,
                                       header, call.request_bytes);
  call.sent_bytes =
      frame->frame_bytes - static_cast<int64_t>(protocol::kFrameHeaderBytes);
  call.transport_state = frame;
  frame->call = &call;
  Push(frame);
  if (!is_open()) RequestDial();
}

void ClientLink::Abandon(protocol::ClientCall& call) {
  if (call.transport_state == nullptr) return;
  static_cast<QueuedFrame*>(call.transport_state)->call = nullptr;
  call.transport_state = nullptr;
  call.sent_ns = base::RealClock().MonotonicNs();
}

void ClientLink::RequestDial() {
  if (is_open() || is_dialing()) return;
  is_requested_ = true;
  listener_.OnDueChanged(*this);
}

void ClientLink::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  if (is_requested_) {
    BeginGreeting(now_ns);
  } else {
    Break(protocol::StreamError::kHelloTimeout, "no answer in time");
  }
}

void ClientLink::BeginGreeting(int64_t now_ns) {
  is_requested_ = false;
  due_ns_ = now_ns + context().settings.answer_timeout_ns;
  if (was_up_) ++context().counters.reconnects;
  greeting_.emplace(protocol::Greeting::Side::kClient, context().test_nonce);
  problem_.clear();
  decoder_.Reset();
  unanswered_ = 0;
  StartLink(context().endpoint->Insert(server_));
  SendControl(MessageKind::kHello,
              EncodeIntroduction({.link = id(),
                                  .receive_bytes = static_cast<uint32_t>(
                                      context().endpoint->receive_bytes()),
                                  .address = context().endpoint->address(),
                                  .greeting = greeting_->TakeOutput()}));
}

void ClientLink::OnMessage(MessageKind kind, absl::string_view content,
                           int64_t read_ns, protocol::TransportEvents* events) {
  NoteLife(kind, read_ns);
  if (kind == MessageKind::kWelcome && greeting_.has_value()) {
    return OnWelcome(content);
  }
  if (kind == MessageKind::kGoodbye) {
    return Break(protocol::StreamError::kClosedByPeer);
  }
  if (kind != MessageKind::kFrames || !is_open()) return;
  // A server that does not wait for requests replies before its welcome.
  if (events == nullptr) return Break(protocol::StreamError::kUnknownCall);
  const protocol::StreamError error = decoder_.Decode(
      content, [&](const protocol::FrameHeader& frame, absl::string_view head) {
        return OnReply(frame, head, read_ns, *events);
      });
  if (error != protocol::StreamError::kNone) Break(error);
}

void ClientLink::OnWelcome(absl::string_view content) {
  Introduction server;
  if (!DecodeIntroduction(content, server) ||
      server.greeting.size() > greeting_->missing_bytes()) {
    return Break(protocol::StreamError::kMalformedMessage);
  }
  const protocol::StreamError error = greeting_->Receive(server.greeting);
  if (error != protocol::StreamError::kNone) return Break(error);
  if (greeting_->missing_bytes() > 0) {
    return Break(protocol::StreamError::kMalformedMessage);
  }
  Know(server);
  SendControl(MessageKind::kProof, greeting_->TakeOutput());
  greeting_.reset();
  was_up_ = true;
  listener_.OnDueChanged(*this);
  Open();
}

protocol::StreamError ClientLink::OnReply(const protocol::FrameHeader& frame,
                                          absl::string_view head,
                                          int64_t read_ns,
                                          protocol::TransportEvents& events) {
  const size_t times_bytes = protocol::TimesBytes(reply_kind_);
  if (head.size() < times_bytes)
    return protocol::StreamError::kMalformedMessage;
  const char* const times = head.data();
  head.remove_prefix(times_bytes);
  Calls::Entry* entry;
  switch (calls_.Find(frame.call_id, entry)) {
    case Calls::Match::kUnknown:
      return protocol::StreamError::kUnknownCall;
    case Calls::Match::kEnded:
      if (unanswered_ == 0) return protocol::StreamError::kUnknownCall;
      --unanswered_;
      ++context().counters.late_replies;
      return protocol::StreamError::kNone;
    case Calls::Match::kFound:
      break;
  }
  // A reply to a request that has not been sent.
  if (entry->owner != this || entry->call->transport_state != nullptr) {
    return protocol::StreamError::kUnknownCall;
  }
  const payload::ResponseHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return protocol::StreamError::kMalformedMessage;
  --unanswered_;
  delay_.Reset();
  protocol::ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = read_ns;
  call.received_bytes = frame.message_bytes - times_bytes;
  protocol::TakeHeader(*header, call);
  if (times_bytes > 0) {
    const protocol::ReplyTimes reported = protocol::DecodeReplyTimes(times);
    call.server_queue_ns = reported.queue_ns;
    call.server_handler_ns = reported.handler_ns;
  }
  events.OnDone(&call);
  return protocol::StreamError::kNone;
}

int64_t ClientLink::patience_ns() const {
  return unanswered_ > 0 ? kPatienceNs : INT64_MAX;
}

void ClientLink::OnBroken(const std::string& reason) {
  if (!greeting_.has_value()) {
    return GoDown(protocol::LossError(name_, reason));
  }
  greeting_.reset();
  problem_ = reason;
  if (was_up_) ++context().counters.failed_reconnects;
  GoDown(protocol::DialError(name_, was_up_, reason));
}

// Fails the calls in flight.
void ClientLink::GoDown(const std::string& error) {
  StampUnsent();
  End();
  unanswered_ = 0;
  due_ns_ = delay_.After(base::NowNs());
  listener_.OnDueChanged(*this);
  listener_.OnDown(*this, error);
}

void ClientLink::Close() {
  SayGoodbye();
  greeting_.reset();
  is_requested_ = false;
  listener_.OnDueChanged(*this);
  End();
}

}  // namespace distbench::libfabric
