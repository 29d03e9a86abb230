#include "distbench/products/simulation/network/tcp_sender.h"

#include <algorithm>

namespace distbench::simulation {

namespace {

constexpr int kDuplicatesOfALoss = 3;

}  // namespace

void TcpSender::Write(int64_t bytes, int64_t now_ns) {
  if (acked_ == end_) {
    const int64_t timeout_ns =
        round_trip_.timeout_ns(settings_.min_timeout_ns, 0);
    const int64_t idle_ns = now_ns - last_sent_ns_;
    if (idle_ns > timeout_ns) window_.OnIdle(idle_ns, timeout_ns);
  }
  end_ += bytes;
}

int64_t TcpSender::NextBytes() const {
  return std::min(settings_.segment_bytes, end_ - next_);
}

bool TcpSender::MaySend() const {
  if (repeats_first_) return true;
  if (next_ == end_) return false;
  double allowed = window_.bytes();
  // Limited transmit: duplicates say that segments have left the network.
  if (!in_recovery_ && duplicates_ < kDuplicatesOfALoss) {
    allowed += static_cast<double>(duplicates_ * settings_.segment_bytes);
  }
  allowed = std::min(allowed, static_cast<double>(settings_.max_window_bytes));
  return next_ == acked_ ||
         static_cast<double>(flight_bytes() + NextBytes()) <= allowed;
}

TcpSegment TcpSender::Next(int64_t now_ns) {
  TcpSegment segment;
  if (repeats_first_) {
    repeats_first_ = false;
    segment = {
        acked_,
        static_cast<int32_t>(std::min(settings_.segment_bytes, sent_ - acked_)),
        true};
  } else {
    segment = {next_, static_cast<int32_t>(NextBytes()), next_ < sent_};
    next_ += segment.bytes;
    sent_ = std::max(sent_, next_);
    used_window_ = flight_bytes();
  }
  last_sent_ns_ = now_ns;
  if (deadline_ns_ == kNoDeadline) RestartTimer(now_ns);
  return segment;
}

void TcpSender::RestartTimer(int64_t now_ns) {
  deadline_ns_ =
      now_ns + round_trip_.timeout_ns(settings_.min_timeout_ns, timeouts_);
}

void TcpSender::OnAck(const Ack& ack, int64_t now_ns) {
  const int64_t newly_acked = std::max<int64_t>(ack.offset - acked_, 0);
  const bool may_grow =
      !settings_.dctcp ||
      window_.OnMarks(newly_acked, ack.marked, ack.offset, next_, in_recovery_);
  if (newly_acked > 0) {
    OnNewAck(ack, may_grow, now_ns);
  } else if (ack.offset == acked_ && !ack.has_data && next_ > acked_) {
    OnDuplicateAck();
  }
}

void TcpSender::OnNewAck(const Ack& ack, bool may_grow, int64_t now_ns) {
  const int64_t newly_acked = ack.offset - acked_;
  const int64_t flight_before = flight_bytes();
  acked_ = ack.offset;
  next_ = std::max(next_, acked_);
  round_trip_.Add(ack.round_trip_ns);
  timeouts_ = 0;
  repeats_first_ = false;
  if (!in_recovery_) {
    duplicates_ = 0;
    if (may_grow) window_.OnAck(newly_acked, flight_before, used_window_);
  } else if (acked_ >= recovery_end_) {
    in_recovery_ = false;
    duplicates_ = 0;
    window_.EndRecovery(flight_bytes());
  } else {
    window_.OnPartialAck(newly_acked);
    repeats_first_ = true;
  }
  if (acked_ == sent_) {
    deadline_ns_ = kNoDeadline;
  } else {
    RestartTimer(now_ns);
  }
}

void TcpSender::OnDuplicateAck() {
  ++duplicates_;
  if (in_recovery_) {
    window_.OnDuplicate();
  } else if (duplicates_ == kDuplicatesOfALoss && acked_ >= recovery_end_) {
    in_recovery_ = true;
    recovery_end_ = sent_;
    window_.BeginRecovery(flight_bytes());
    repeats_first_ = true;
  }
}

void TcpSender::OnTimeout(int64_t now_ns) {
  window_.OnTimeout(flight_bytes(), timeouts_ == 0);
  ++timeouts_;
  recovery_end_ = sent_;
  in_recovery_ = false;
  duplicates_ = 0;
  repeats_first_ = false;
  next_ = acked_;
  RestartTimer(now_ns);
}

}  // namespace distbench::simulation
