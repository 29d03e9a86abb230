#include "distbench/products/simulation/network/packet_connection.h"

namespace distbench::simulation {

ConnectionEnd& ConnectionTable::Find(uint64_t connection, int from_host,
                                     int to_host) {
  absl::MutexLock lock(&mutex_);
  const auto [entry, is_new] = by_connection_.try_emplace(connection, nullptr);
  if (is_new) {
    std::vector<int> there;
    std::vector<int> back;
    model_.paths->Find(from_host, to_host, connection, there);
    model_.paths->Find(to_host, from_host, connection, back);
    entry->second = &ends_.emplace_back(settings_, from_host, to_host,
                                        RoundTripNs(there, back));
    Ends& ends = *entry->second;
    ends.a.peer = &ends.b;
    ends.b.peer = &ends.a;
    ends.a.path.assign(there.begin(), there.end());
    ends.b.path.assign(back.begin(), back.end());
  }
  Ends& ends = *entry->second;
  return ends.a.host == from_host ? ends.a : ends.b;
}

int64_t ConnectionTable::RoundTripNs(const std::vector<int>& there,
                                     const std::vector<int>& back) const {
  const auto header_bytes = static_cast<double>(settings_.header_bytes);
  double round_trip_ns = 0;
  for (const int index : there) {
    const LinkModel& link = model_.links[index];
    round_trip_ns +=
        static_cast<double>(link.delay_ns) +
        (static_cast<double>(settings_.segment_bytes) + header_bytes) /
            link.bytes_per_ns;
  }
  for (const int index : back) {
    const LinkModel& link = model_.links[index];
    round_trip_ns +=
        static_cast<double>(link.delay_ns) + header_bytes / link.bytes_per_ns;
  }
  return static_cast<int64_t>(round_trip_ns);
}

}  // namespace distbench::simulation
