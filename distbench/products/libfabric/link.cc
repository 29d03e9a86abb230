// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/link.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::libfabric {
namespace {

// Messages of a link that may wait for earlier ones.
constexpr size_t kMaxHeld = 4096;
constexpr size_t kMaxHeldBytes = 16 << 20;

}  // namespace

std::vector<protocol::DriverCounter> LibfabricCounters::List() const {
  std::vector<protocol::DriverCounter> counters =
      protocol::StreamCounters::List();
  protocol::AddCounters({{"stray_messages", stray_messages}}, counters);
  return counters;
}

Link::~Link() {
  End();
  if (is_dirty_) std::erase(context_.to_flush, this);
}

void Link::StartLink(fi_addr_t peer) {
  id_ = context_.links.Add(this);
  peer_ = peer;
  posted_ = 0;
  sent_count_ = 0;
  received_count_ = 0;
  heard_ns_ = base::NowNs();
  pinged_ns_ = 0;
  error_ = protocol::StreamError::kNone;
  message_bytes_ = kMinReceiveBufferBytes;
}

void Link::End() {
  if (has_begun()) context_.links.Remove(id_);
  id_ = 0;
  peer_id_ = 0;
  is_open_ = false;
  error_ = protocol::StreamError::kNone;
  controls_.clear();
  held_.clear();
  held_bytes_ = 0;
  DropQueue();
}

void Link::DropQueue() {
  while (first_ != nullptr) {
    context_.frames.Put(std::exchange(first_, first_->next));
  }
  last_ = nullptr;
  queued_bytes_ = 0;
}

void Link::Know(const Introduction& peer) {
  peer_id_ = peer.link;
  message_bytes_ = peer.receive_bytes;
}

void Link::Open() {
  is_open_ = true;
  if (first_ != nullptr) MarkDirty();
}

void Link::SendControl(MessageKind kind, std::string content) {
  // The same again would say nothing new.
  for (const Control& control : controls_) {
    if (control.kind == kind) return;
  }
  controls_.push_back({.kind = kind, .content = std::move(content)});
  Flush();
}

// Returns whether more may follow.
bool Link::SendNextControl() {
  const Control& control = controls_.front();
  if (!Take(Send(control.kind, control.content, /*payload_bytes=*/0))) {
    return false;
  }
  controls_.erase(controls_.begin());
  return true;
}

Endpoint::Sent Link::Send(MessageKind kind, absl::string_view head,
                          int64_t payload_bytes) {
  return context_.endpoint->Send(
      peer_, {.kind = kind, .link = peer_id_, .sequence = sent_count_}, head,
      payload_bytes, message_bytes_, id_);
}

// Returns whether the provider has accepted a message.
bool Link::Take(const Endpoint::Sent& sent) {
  if (sent.error == 0) {
    ++sent_count_;
    if (sent.is_pending) ++posted_;
    return true;
  }
  if (sent.error != FI_EAGAIN) {
    Break(protocol::StreamError::kSocketFailed,
          FabricProblem("send", sent.error));
  }
  return false;
}

// At once, because the link ends; also if it is breaking. If the provider does
// not take it, the peer notices later.
void Link::SayGoodbye() {
  if (is_open_) Take(Send(MessageKind::kGoodbye, {}, /*payload_bytes=*/0));
}

void Link::Deliver(const MessageHeader& header, absl::string_view content,
                   int64_t read_ns, protocol::TransportEvents* events) {
  if (is_breaking()) return;
  if (header.sequence != received_count_) return Hold(header, content);
  ++received_count_;
  OnMessage(header.kind, content, read_ns, events);
  while (!held_.empty() && has_begun() && !is_breaking()) {
    const auto next = held_.find(received_count_);
    if (next == held_.end()) return;
    const Held held = std::move(next->second);
    held_.erase(next);
    held_bytes_ -= held.content.size();
    ++received_count_;
    OnMessage(held.kind, held.content, read_ns, events);
  }
}

// Keeps a message until those before it have arrived.
void Link::Hold(const MessageHeader& header, absl::string_view content) {
  held_bytes_ += content.size();
  const bool is_past =
      static_cast<int32_t>(header.sequence - received_count_) < 0;
  if (is_past || held_.size() >= kMaxHeld || held_bytes_ > kMaxHeldBytes ||
      held_.contains(header.sequence)) {
    return Break(protocol::StreamError::kSocketFailed, "messages are missing");
  }
  held_[header.sequence] = {.kind = header.kind,
                            .content = std::string(content)};
}

void Link::OnSent(int error) {
  if (posted_ > 0) --posted_;
  if (error != 0) {
    Break(protocol::StreamError::kSocketFailed, FabricProblem("send", error));
  }
}

void Link::Push(QueuedFrame* frame) {
  queued_bytes_ += frame->frame_bytes;
  if (last_ != nullptr) {
    last_->next = frame;
    last_ = frame;
    return;
  }
  first_ = last_ = frame;
  if (is_open_) Flush();
}

void Link::MarkDirty() {
  if (std::exchange(is_dirty_, true)) return;
  context_.to_flush.push_back(this);
}

void Link::Flush() {
  // So that one slow peer does not take all buffers.
  const size_t max_posted =
      std::max<size_t>(1, context_.endpoint->send_buffers() / 4);
  bool goes_on = !is_breaking();
  while (goes_on && !controls_.empty()) goes_on = SendNextControl();
  while (goes_on && is_open_ && first_ != nullptr && posted_ < max_posted) {
    goes_on = SendSome(*first_);
  }
  if (!controls_.empty() || (is_open_ && first_ != nullptr)) MarkDirty();
}

void Link::Settle() {
  is_dirty_ = false;
  if (!has_begun()) return;
  Flush();
  if (!is_breaking()) return;
  context_.counters.CountEnd(error_, IsInUse());
  if (error_ != protocol::StreamError::kClosedByPeer) SayGoodbye();
  OnBroken(protocol::Describe(error_, detail_));
}

// Sends one message. Returns whether another may follow.
bool Link::SendSome(QueuedFrame& frame) {
  if (frame.head_sent == 0) Stamp(frame);
  const bool is_first = frame.head_sent == 0;
  const Endpoint::Sent sent =
      Send(MessageKind::kFrames,
           absl::string_view(frame.head).substr(frame.head_sent),
           frame.payload_left);
  if (!Take(sent)) return false;
  frame.head_sent += sent.head_bytes;
  frame.payload_left -= sent.payload_bytes;
  if (is_first && frame.call != nullptr) {
    frame.call->transport_state = nullptr;
    frame.call = nullptr;
  }
  if (frame.head_sent < frame.head.size() || frame.payload_left > 0) {
    return true;
  }
  queued_bytes_ -= frame.frame_bytes;
  first_ = frame.next;
  if (first_ == nullptr) last_ = nullptr;
  context_.frames.Put(&frame);
  OnFrameSent();
  return true;
}

// Takes the time of sending, again if the provider has refused the message.
void Link::Stamp(QueuedFrame& frame) {
  if (frame.call == nullptr && frame.begun_ns == 0) return;
  const int64_t now_ns = base::NowNs();
  if (frame.call != nullptr) frame.call->sent_ns = now_ns;
  if (frame.begun_ns == 0) return;
  protocol::EncodeReplyTimes(
      {.queue_ns = frame.queue_ns, .handler_ns = now_ns - frame.begun_ns},
      frame.head.data() + protocol::kFrameHeaderBytes);
}

void Link::StampUnsent() {
  if (first_ == nullptr) return;
  const int64_t now_ns = base::NowNs();
  for (QueuedFrame* frame = first_; frame != nullptr; frame = frame->next) {
    if (frame->call == nullptr) continue;
    frame->call->sent_ns = now_ns;
    frame->call->transport_state = nullptr;
    frame->call = nullptr;
  }
}

void Link::NoteLife(MessageKind kind, int64_t now_ns) {
  heard_ns_ = now_ns;
  pinged_ns_ = 0;
  if (kind == MessageKind::kPing) SendControl(MessageKind::kPong);
}

void Link::CheckLife(int64_t now_ns) {
  if (!is_open_ || now_ns - heard_ns_ < patience_ns()) return;
  if (pinged_ns_ == 0) {
    pinged_ns_ = now_ns;
    SendControl(MessageKind::kPing);
  } else if (now_ns - pinged_ns_ >= context_.settings.answer_timeout_ns) {
    Break(protocol::StreamError::kSocketFailed,
          "the peer gives no sign of life");
  }
}

void Link::Break(protocol::StreamError error, std::string detail) {
  if (is_breaking()) return;
  error_ = error;
  detail_ = std::move(detail);
  MarkDirty();
}

}  // namespace distbench::libfabric
