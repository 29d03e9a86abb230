// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/http2_connection.h"

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::http2 {

std::vector<protocol::DriverCounter> Http2Counters::List() const {
  std::vector<protocol::DriverCounter> counters =
      protocol::StreamCounters::List();
  protocol::AddCounters({{"window_waits", window_waits},
                         {"stream_limit_waits", stream_limit_waits},
                         {"reset_streams", reset_streams},
                         {"refused_requests", refused_requests},
                         {"unkept_requests", unkept_requests},
                         {"overdue_requests", overdue_requests}},
                        counters);
  return counters;
}

void Http2Connection::StartSession(std::unique_ptr<Http2Session> session) {
  session_ = std::move(session);
  wait_ = Http2Session::Wait::kNone;
  MarkDirty();
}

void Http2Connection::Close() {
  protocol::StreamConnection::Close();
  session_.reset();
}

void Http2Connection::OnBroken(const std::string& reason) {
  session_.reset();
  OnLost(reason);
}

void Http2Connection::Read(protocol::TransportEvents& events) {
  const size_t received = ReadSome(context_.kReadBytes);
  if (received == 0) return;
  read_ns_ = base::RealClock().MonotonicNs();
  events_ = &events;
  const bool is_valid = session_->Receive(
      absl::string_view(context_.read_buffer.get(), received));
  events_ = nullptr;
  if (!is_valid) Break(protocol::StreamError::kProtocolViolated);
  // There may be acknowledgements to send, or room in a window.
  MarkDirty();
}

void Http2Connection::Write() {
  OnFlush();
  if (!accepts_writes() || session_ == nullptr) return;
  const protocol::SendQueue::Outcome outcome = session_->Write(stream());
  if (stream().stamps() != nullptr) [[unlikely]] {
    const bool is_all =
        outcome == protocol::SendQueue::Outcome::kEmpty && !AnyWaits();
    OnWritten(is_all ? unwritten() : 0);
  }
  switch (outcome) {
    case protocol::SendQueue::Outcome::kEmpty:
      NoteWait();
      break;
    case protocol::SendQueue::Outcome::kNotEmpty:
      OnFull();
      return;
    case protocol::SendQueue::Outcome::kBroken:
      BreakWithStreamError(protocol::StreamError::kSocketFailed);
      return;
  }
  if (session_->is_over()) {
    Break(session_->was_ended_by_peer()
              ? protocol::StreamError::kClosedByPeer
              : protocol::StreamError::kProtocolViolated);
  }
}

// Counts the beginning of a wait for the peer.
void Http2Connection::NoteWait() {
  const Http2Session::Wait before = std::exchange(wait_, session_->wait());
  if (wait_ == before) return;
  if (wait_ == Http2Session::Wait::kWindow) {
    ++context_.http2_counters.window_waits;
  } else if (wait_ == Http2Session::Wait::kStreamLimit) {
    ++context_.http2_counters.stream_limit_waits;
  }
}

}  // namespace distbench::http2
