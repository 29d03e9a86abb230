#include "distbench/products/thrift/thrift_connection.h"

#include <algorithm>
#include <utility>

#include "distbench/config/plan/driver_options.h"

namespace distbench::thrift {

std::vector<protocol::DriverCounter> ThriftCounters::List() const {
  std::vector<protocol::DriverCounter> counters =
      protocol::StreamCounters::List();
  const auto add = [&](const char* name, int64_t value) {
    if (value > 0) counters.push_back({name, value});
  };
  add("exceptions", exceptions);
  add("refused_requests", refused_requests);
  return counters;
}

void ThriftConnection::Open(protocol::Stream stream, bool watched) {
  protocol::StreamConnection::Open(std::move(stream), watched);
  decoder_.Reset();
  if (!queue_.empty()) MarkDirty();
}

void ThriftConnection::Close() {
  protocol::StreamConnection::Close();
  queue_.Clear();
}

void ThriftConnection::OnBroken(const std::string& reason) {
  queue_.Clear();
  OnLost(reason);
}

void ThriftConnection::SendFrame(absl::string_view frame) {
  std::copy(frame.begin(), frame.end(), queue_.Reserve(frame.size()));
  queue_.Commit(frame.size(), 0);
  NoteQueued(static_cast<int64_t>(frame.size()));
}

void ThriftConnection::NoteQueued(int64_t bytes) {
  MarkDirty();
  batched_bytes_ += bytes;
  if (batched_bytes_ >= config::kTcpMaxBatchBytes) Write();
}

void ThriftConnection::Write() {
  OnFlush();
  batched_bytes_ = 0;
  if (!accepts_writes()) return;
  switch (queue_.Write(stream())) {
    case protocol::WriteQueue::Outcome::kEmpty:
      break;
    case protocol::WriteQueue::Outcome::kNotEmpty:
      OnFull();
      break;
    case protocol::WriteQueue::Outcome::kBroken:
      BreakWithStreamError(protocol::StreamError::kSocketFailed);
      break;
  }
}

}  // namespace distbench::thrift
