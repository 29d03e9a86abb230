#include "distbench/protocol/grpc/wire/stream_counts.h"

namespace distbench::protocol {

std::vector<DriverCounter> StreamCounts::List() const {
  std::vector<DriverCounter> counters;
  const auto add = [&](const char* name, int64_t value) {
    if (value > 0) counters.push_back({name, value});
  };
  add("streams_opened", opened);
  add("streams_failed", failed);
  add("messages_waited", messages_waited);
  add("send_blocked_us", blocked_ns / 1000);
  add("late_replies", late_replies);
  return counters;
}

}  // namespace distbench::protocol
