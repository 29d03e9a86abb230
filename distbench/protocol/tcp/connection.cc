#include "distbench/protocol/tcp/connection.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench {

Connection::Connection(ConnectionContext& context, FrameKind incoming,
                       int64_t max_batch)
    : context_(context), max_batch_(max_batch), decoder_(incoming) {}

void Connection::Open(Stream stream, bool watched) {
  stream_ = std::move(stream);
  decoder_.Reset();
  is_full_ = false;
  reads_ = true;
  error_ = StreamError::kNone;
  interest_ = EPOLLIN;
  if (watched) {
    context_.poller.Rewatch(stream_.fd(), interest_, *this);
  } else {
    context_.poller.Watch(stream_.fd(), interest_, *this);
  }
  if (!queue_.empty()) MarkDirty();
}

void Connection::Close() {
  stream_.Close();
  queue_.Clear();
  error_ = StreamError::kNone;
}

void Connection::Break(StreamError error) {
  if (error_ != StreamError::kNone) return;
  error_ = error;
  MarkDirty();
}

void Connection::BreakWithStreamError(StreamError error) {
  socket_error_ = stream_.Error();
  Break(error);
}

int64_t Connection::SendTimedReply(uint64_t call_id,
                                   const ResponseHeader& header,
                                   int64_t target_bytes, int64_t queue_ns,
                                   int64_t begun_ns) {
  return Queued(queue_.AppendTimedReply(call_id, header, target_bytes,
                                        queue_ns, begun_ns));
}

void Connection::MarkDirty() {
  if (is_dirty_) return;
  is_dirty_ = true;
  context_.to_flush.push_back(this);
}

void Connection::Flush() {
  is_dirty_ = false;
  Write();
  SettleError();
}

void Connection::Write() {
  if (batched_frames_ > 0) {
    OnFlush();
    if (queue_.has_unstamped_replies()) {
      queue_.StampReplies(RealClock().MonotonicNs());
    }
  }
  batched_frames_ = 0;
  batched_bytes_ = 0;
  if (!is_open() || is_full_ || error_ != StreamError::kNone) return;
  switch (queue_.Write(stream_)) {
    case SendQueue::Outcome::kEmpty:
      break;
    case SendQueue::Outcome::kNotEmpty:
      is_full_ = true;
      UpdateInterest();
      break;
    case SendQueue::Outcome::kBroken:
      BreakWithStreamError(StreamError::kSocketFailed);
      break;
  }
}

void Connection::OnWritable() {
  is_full_ = false;
  Write();
  if (!is_full_) UpdateInterest();
}

void Connection::UpdateInterest() {
  if (!is_open()) return;
  const uint32_t interest =
      (reads_ ? uint32_t{EPOLLIN} : 0) | (is_full_ ? uint32_t{EPOLLOUT} : 0);
  if (interest == interest_) return;
  interest_ = interest;
  context_.poller.Rewatch(stream_.fd(), interest_, *this);
}

void Connection::SettleError() {
  if (error_ == StreamError::kNone) return;
  const StreamError error = error_;
  const bool is_loss = error == StreamError::kClosedByPeer ||
                       error == StreamError::kSocketFailed;
  if (!is_loss || IsInUse()) context_.counters.CountError(error);
  std::string reason(Describe(error));
  if (error == StreamError::kSocketFailed || error == StreamError::kTlsFailed) {
    absl::StrAppend(&reason, ": ", socket_error_);
  }
  Close();
  OnBroken(reason);
}

}  // namespace distbench
