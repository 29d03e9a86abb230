// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/node_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench::sequencer {
namespace {

// Above this number, nodes are pinged more rarely.
constexpr int kFewNodes = 1000;
constexpr int kMostBeatsPerPing = 4;

}  // namespace

int NodeSession::BeatsPerPing(size_t node_count) {
  return static_cast<int>(std::clamp<size_t>(
      (node_count + kFewNodes - 1) / kFewNodes, 1, kMostBeatsPerPing));
}

int NodeSession::FirstPings(int node_id) { return node_id < kFewNodes ? 8 : 2; }

NodeSession::NodeSession(NodeSessionOptions options,
                         std::shared_ptr<CommandStream> stream,
                         const base::Clock& clock, NodeRegistry& registry)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      clock_(clock),
      registry_(registry),
      beats_(options_.config.node_id()),
      pings_until_pause_(FirstPings(options_.config.node_id())) {
  NodeCommand welcome;
  *welcome.mutable_welcome() = options_.config;
  welcome.mutable_welcome()->set_silence_timeout_ns(
      absl::ToInt64Nanoseconds(options_.silence_timeout));
  stream_->Send(std::move(welcome));
  absl::MutexLock lock(&mutex_);
  SendPing();
}

void NodeSession::OnMessage(NodeMessage message) {
  absl::Status taken;
  {
    absl::MutexLock lock(&mutex_);
    silent_beats_ = 0;
    if (message.has_pong()) {
      OnPong(message.pong());
      if (!message.pong().has_progress()) return;
      TrafficProgress progress =
          std::move(*message.mutable_pong()->mutable_progress());
      *message.mutable_progress() = std::move(progress);
    }
    if (events_ != nullptr && !end_reason_.has_value()) {
      taken = events_->OnNodeMessage(*this, std::move(message));
    }
  }
  if (!taken.ok()) Disconnect(taken.message());
}

void NodeSession::OnEnd(const std::string& reason) {
  {
    absl::MutexLock lock(&mutex_);
    if (end_reason_.has_value()) return;
    end_reason_ = reason;
    if (events_ != nullptr) events_->OnNodeLost(*this, reason);
  }
  registry_.Remove(options_.config.node_id(), *this);
}

bool NodeSession::is_silent() const {
  absl::MutexLock lock(&mutex_);
  // That many are normal until a ping is answered. More are no accident.
  return silent_beats_ > beats_per_ping_;
}

std::optional<ClockOffset> NodeSession::clock_offset() const {
  absl::MutexLock lock(&mutex_);
  return clock_offset_.estimate();
}

void NodeSession::Attach(std::shared_ptr<NodeEvents> events) {
  absl::MutexLock lock(&mutex_);
  events_ = std::move(events);
  if (events_ != nullptr && end_reason_.has_value()) {
    events_->OnNodeLost(*this, *end_reason_);
  }
}

void NodeSession::Beat(int beats_per_ping) {
  bool is_silent = false;
  {
    absl::MutexLock lock(&mutex_);
    is_silent = ++silent_beats_ >= kSilentBeats;
    beats_per_ping_ = beats_per_ping;
    const bool is_turn = ++beats_ % beats_per_ping == 0;
    if (!is_silent && is_turn && !ping_sent_ns_.has_value()) SendPing();
  }
  if (is_silent) {
    Disconnect(absl::StrCat("nothing was heard for ",
                            absl::FormatDuration(options_.silence_timeout)));
  }
}

void NodeSession::Disconnect(absl::string_view reason) {
  // Record the reason first: closing the stream also ends the session, with a
  // less useful reason.
  const auto stream = stream_;
  OnEnd(std::string(reason));
  stream->Close(absl::UnavailableError(
      absl::StrCat("the sequencer ended the session: ", reason)));
}

void NodeSession::OnPong(const Pong& pong) {
  // A node that names another time would make the round trip as long as it
  // likes, and tests start late by four of them.
  const bool is_answer = ping_sent_ns_ == pong.sequencer_timestamp_ns();
  ping_sent_ns_.reset();
  if (is_answer) {
    clock_offset_.AddRoundTrip(pong.sequencer_timestamp_ns(),
                               pong.node_timestamp_ns(), clock_.UnixNs());
  }
  if (pings_until_pause_ > 0) SendPing();
}

void NodeSession::SendPing() {
  if (pings_until_pause_ > 0) --pings_until_pause_;
  ping_sent_ns_ = clock_.UnixNs();
  NodeCommand command;
  command.mutable_ping()->set_sequencer_timestamp_ns(*ping_sent_ns_);
  stream_->Send(std::move(command));
}

}  // namespace distbench::sequencer
