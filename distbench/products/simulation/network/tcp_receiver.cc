#include "distbench/products/simulation/network/tcp_receiver.h"

#include <algorithm>

namespace distbench::simulation {

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
