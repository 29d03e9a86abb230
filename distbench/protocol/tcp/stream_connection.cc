// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream_connection.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace distbench::protocol {

StreamConnection::~StreamConnection() {
  context_.poller.Forget(*this);
  // Usually a turn leaves nothing there.
  std::erase(context_.to_flush, this);
}

void StreamConnection::Open(Stream stream, bool watched) {
  stream_ = std::move(stream);
  stream_.NoteIn(context_.poller.work());
  is_full_ = false;
  reads_ = true;
  error_ = StreamError::kNone;
  details_.clear();
  interest_ = EPOLLIN;
  if (watched) {
    context_.poller.Rewatch(stream_.fd(), interest_, *this);
    return;
  }
  const absl::Status status =
      context_.poller.Watch(stream_.fd(), interest_, *this);
  if (status.ok()) return;
  details_ = std::string(status.message());
  Break(StreamError::kNotWatched);
}

void StreamConnection::Close() {
  stream_.Close();
  error_ = StreamError::kNone;
}

void StreamConnection::Break(StreamError error) {
  if (is_breaking()) return;
  error_ = error;
  MarkDirty();
}

void StreamConnection::BreakWithStreamError(StreamError error) {
  if (is_breaking()) return;
  details_ = stream_.Error();
  Break(error);
}

size_t StreamConnection::ReadSome(size_t wanted) {
  const ssize_t received = stream_.Receive(context_.read_buffer.get(), wanted);
  if (received > 0) return received;
  if (received == 0) {
    Break(StreamError::kClosedByPeer);
  } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
    BreakWithStreamError(StreamError::kSocketFailed);
  }
  return 0;
}

uint32_t StreamConnection::TakeReports(uint32_t epoll_events) {
  ZeroCopyReports reports;
  if (!stream_.TakeReports(reports)) return epoll_events;
  context_.counters.zero_copy_sends += reports.sends;
  context_.counters.zero_copy_copied += reports.copied;
  return epoll_events & ~uint32_t{EPOLLERR};
}

void StreamConnection::MarkDirty() {
  if (is_dirty_) return;
  is_dirty_ = true;
  context_.to_flush.push_back(this);
}

void StreamConnection::Flush() {
  is_dirty_ = false;
  Write();
  SettleError();
}

void StreamConnection::OnFull() {
  is_full_ = true;
  UpdateInterest();
}

void StreamConnection::OnWritable() {
  is_full_ = false;
  Write();
  if (!is_full_) UpdateInterest();
}

void StreamConnection::UpdateInterest() {
  if (!is_open() || is_breaking()) return;
  const uint32_t interest =
      (reads_ ? uint32_t{EPOLLIN} : 0) | (is_full_ ? uint32_t{EPOLLOUT} : 0);
  if (interest == interest_) return;
  interest_ = interest;
  context_.poller.Rewatch(stream_.fd(), interest_, *this);
}

void StreamConnection::SettleError() {
  if (error_ == StreamError::kNone) return;
  context_.counters.CountEnd(error_, IsInUse());
  const std::string reason = Describe(error_, details_);
  Close();
  OnBroken(reason);
}

}  // namespace distbench::protocol
