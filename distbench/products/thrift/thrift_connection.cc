// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/thrift_connection.h"

#include <algorithm>

#include "distbench/protocol/driver_parts.h"

namespace distbench::thrift {

std::vector<protocol::DriverCounter> ThriftCounters::List() const {
  std::vector<protocol::DriverCounter> counters =
      protocol::StreamCounters::List();
  protocol::AddCounters(
      {{"exceptions", exceptions}, {"refused_requests", refused_requests}},
      counters);
  return counters;
}

void ThriftConnection::SendFrame(absl::string_view frame) {
  std::copy(frame.begin(), frame.end(), queue_.Reserve(frame.size()));
  queue_.Commit(frame.size(), 0);
  Queued(static_cast<int64_t>(frame.size()));
}

}  // namespace distbench::thrift
