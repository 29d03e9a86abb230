// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream_server.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "distbench/base/clock.h"
#include "glog/logging.h"

namespace distbench::protocol {
namespace {

// The number of connections to accept before other work gets its turn.
constexpr int kMaxAtOnce = 64;

// The pause if file descriptors or memory for connections have run out.
constexpr int64_t kPauseNs = 100'000'000;

bool IsTransient(int error) {
  // ECONNABORTED: the client has given up in the meantime.
  return error == ECONNABORTED || error == EINTR || error == EPROTO;
}

}  // namespace

Acceptor::Acceptor(base::FileDescriptor listener, OnAccepted on_accepted,
                   Poller& poller, StreamCounters& counters)
    : listener_(std::move(listener)),
      on_accepted_(std::move(on_accepted)),
      poller_(poller),
      counters_(counters),
      resume_ns_(kNoDeadline) {}

absl::Status Acceptor::Open() {
  return poller_.Watch(listener_.get(), EPOLLIN, *this);
}

void Acceptor::OnReady(uint32_t, TransportEvents&) {
  for (int i = 0; i < kMaxAtOnce && listener_.is_open(); ++i) {
    base::FileDescriptor socket = AcceptConnection(listener_.get());
    if (socket.is_open()) {
      on_accepted_(std::move(socket));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (!IsTransient(errno)) {
      Pause();
      return;
    }
  }
}

void Acceptor::Pause() {
  ++counters_.failed_accepts;
  LOG_FIRST_N(WARNING, 1) << "tcp driver: cannot accept a connection: "
                          << std::strerror(errno);
  resume_ns_ = base::RealClock().MonotonicNs() + kPauseNs;
  poller_.Rewatch(listener_.get(), 0, *this);
}

void Acceptor::Work(int64_t now_ns) {
  if (now_ns < resume_ns_) return;
  resume_ns_ = kNoDeadline;
  if (listener_.is_open()) poller_.Rewatch(listener_.get(), EPOLLIN, *this);
}

void Acceptor::Close() {
  listener_.Close();
  resume_ns_ = kNoDeadline;
}

}  // namespace distbench::protocol
