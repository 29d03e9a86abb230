#include "distbench/products/simulation/network/tcp.h"

#include <algorithm>

namespace distbench::simulation {

TcpSettings MakeTcpSettings(const SimulatedTransport& transport) {
  constexpr int64_t kLinuxDelayedAckNs = 40'000'000;
  TcpSettings settings;
  settings.dctcp = transport.kind() == SimulatedTransport::DCTCP;
  settings.segment_bytes = transport.segment_bytes();
  settings.header_bytes = transport.header_bytes();
  settings.max_window_bytes = transport.max_window_bytes();
  settings.initial_window_bytes =
      std::min(transport.initial_window_segments() * settings.segment_bytes,
               settings.max_window_bytes);
  settings.min_timeout_ns = transport.min_retransmission_timeout_ns();
  settings.delayed_ack_ns =
      std::min(kLinuxDelayedAckNs, settings.min_timeout_ns / 2);
  return settings;
}

namespace {

constexpr double kDctcpGain = 1.0 / 16;  // g of RFC 8257

}  // namespace

void CongestionWindow::OnAck(int64_t acked, int64_t flight_bytes,
                             int64_t used_bytes) {
  const auto flight = static_cast<double>(flight_bytes);
  const auto used = static_cast<double>(used_bytes);
  const auto limit = static_cast<double>(settings_.max_window_bytes);
  if (bytes_ >= limit) return;
  if (bytes_ < threshold_bytes_) {
    if (bytes_ >= 2 * used) return;
    bytes_ += std::min(static_cast<double>(acked), 2 * segment());
  } else {
    if (flight + segment() <= bytes_) return;
    bytes_ += segment() * static_cast<double>(acked) / bytes_;
  }
  bytes_ = std::min(bytes_, limit);
}

bool CongestionWindow::OnMarks(int64_t acked, bool marked, int64_t acked_offset,
                               int64_t next_offset, bool in_recovery) {
  observed_bytes_ += acked;
  if (marked) marked_bytes_ += acked;
  if (acked_offset > observation_end_ && observed_bytes_ > 0) {
    const double share = static_cast<double>(marked_bytes_) /
                         static_cast<double>(observed_bytes_);
    alpha_ += kDctcpGain * (share - alpha_);
    observed_bytes_ = 0;
    marked_bytes_ = 0;
    observation_end_ = next_offset;
  }
  if (acked_offset <= reduced_until_ && reduced_until_ > 0) return false;
  if (!marked || in_recovery) return true;
  bytes_ = std::max(bytes_ * (1 - alpha_ / 2), 2 * segment());
  threshold_bytes_ = bytes_;
  reduced_until_ = next_offset;
  return false;
}

void CongestionWindow::HalveThreshold(int64_t flight_bytes) {
  threshold_bytes_ =
      std::max(static_cast<double>(flight_bytes) / 2, 2 * segment());
}

void CongestionWindow::BeginRecovery(int64_t flight_bytes) {
  HalveThreshold(flight_bytes);
  bytes_ = threshold_bytes_ + 3 * segment();
}

void CongestionWindow::OnPartialAck(int64_t acked) {
  const auto covered = static_cast<double>(acked);
  bytes_ -= covered;
  if (covered >= segment()) bytes_ += segment();
  bytes_ = std::max(bytes_, segment());
}

void CongestionWindow::EndRecovery(int64_t flight_bytes) {
  // The smaller one of RFC 6582's two choices avoids a burst.
  const double flight =
      std::max(static_cast<double>(flight_bytes), segment()) + segment();
  bytes_ = std::min(threshold_bytes_, flight);
}

void CongestionWindow::OnTimeout(int64_t flight_bytes, bool is_first) {
  if (is_first) HalveThreshold(flight_bytes);
  bytes_ = segment();
}

void CongestionWindow::OnIdle(int64_t idle_ns, int64_t timeout_ns) {
  const double restart =
      std::min(static_cast<double>(settings_.initial_window_bytes), bytes_);
  threshold_bytes_ = std::max(threshold_bytes_, 0.75 * bytes_);
  for (; idle_ns > timeout_ns && bytes_ > restart; idle_ns -= timeout_ns) {
    bytes_ /= 2;
  }
  bytes_ = std::max(bytes_, restart);
}

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

TcpReceiver::AckTime TcpReceiver::OnSegment(int64_t offset, int64_t bytes,
                                            bool marked, int64_t stamp_ns,
                                            int64_t now_ns) {
  if (now_ns - last_received_ns_ > settings_.min_timeout_ns) {
    quick_acks_ = kQuickAcks;
  }
  last_received_ns_ = now_ns;
  marked_ = marked;
  // Of several segments, the first one's stamp: the sender's estimate has to
  // contain the delay of acknowledgements (RFC 7323).
  if (!owes_ack_) stamp_ns_ = stamp_ns;
  owes_ack_ = true;

  const int64_t end = offset + bytes;
  if (offset > next_) {
    AddIsland(offset, end);
    return AckTime::kNow;
  }
  if (end <= next_) return AckTime::kNow;
  next_ = end;
  if (has_gap()) {
    JoinIslands();
    return AckTime::kNow;
  }
  if (next_ - acked_ > settings_.segment_bytes) return AckTime::kNow;
  if (quick_acks_ > 0 && !goes_both_ways_) {
    --quick_acks_;
    return AckTime::kNow;
  }
  return AckTime::kDelayed;
}

void TcpReceiver::AddIsland(int64_t begin, int64_t end) {
  // The islands that the new one touches become one with it.
  const auto first = std::lower_bound(
      islands_.begin(), islands_.end(), begin,
      [](const Island& island, int64_t offset) { return island.end < offset; });
  auto last = first;
  for (; last != islands_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  if (first == last) {
    islands_.insert(first, {begin, end});
  } else {
    *first = {begin, end};
    islands_.erase(first + 1, last);
  }
}

void TcpReceiver::JoinIslands() {
  auto island = islands_.begin();
  for (; island != islands_.end() && island->begin <= next_; ++island) {
    next_ = std::max(next_, island->end);
  }
  islands_.erase(islands_.begin(), island);
}

}  // namespace distbench::simulation
