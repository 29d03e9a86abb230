#include "distbench/products/simulation/network/congestion_window.h"

#include <algorithm>

namespace distbench::simulation {
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

}  // namespace distbench::simulation
