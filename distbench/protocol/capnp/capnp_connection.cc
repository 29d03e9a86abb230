#include "distbench/protocol/capnp/capnp_connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "distbench/base/clock.h"
#include "distbench/protocol/capnp/message.h"

namespace distbench {
namespace {

// The pieces of one write.
constexpr size_t kMaxPieces = 64;

capnp::ReaderOptions Limits() {
  capnp::ReaderOptions options;
  // Each part of a message is looked at once; the envelope is small.
  options.traversalLimitInWords =
      2 * kMaxCapnpMessageBytes / sizeof(capnp::word);
  return options;
}

}  // namespace

CapnpConnection::CapnpConnection(CapnpContext& context, Side side)
    : StreamConnection(context),
      context_(context),
      side_(side),
      input_(new char[kInputBytes]),
      messages_(*this) {}

void CapnpConnection::OnEvents(uint32_t epoll_events, TransportEvents& events) {
  events_ = &events;
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    Receive(epoll_events);
    Write();
  }
  events_ = nullptr;
}

void CapnpConnection::Write() {
  OnFlush();
  if (!IsReady()) return;
  const kj::WaitScope scope(context_.loop);
  try {
    if (network_ == nullptr) BeginSession();
    ContinueOutput();
    Submit();
    RunLoop();
  } catch (const kj::Exception&) {
    Break(StreamError::kProtocolViolated);
  }
  Collect();
  set_reads(IsAwaited());
  UpdateInterest();
}

// kj ends the session if the peer violates the protocol.
void CapnpConnection::BeginSession() {
  network_ =
      std::make_unique<capnp::TwoPartyVatNetwork>(messages_, side_, Limits());
  rpc_ = std::make_unique<RpcSystem>(BeginRpc(*network_));
  disconnected_ = network_->onDisconnect()
                      .then([this] { Break(StreamError::kProtocolViolated); })
                      .eagerlyEvaluate([this](kj::Exception&&) {
                        Break(StreamError::kProtocolViolated);
                      });
}

void CapnpConnection::EndSession() {
  if (network_ == nullptr) return;
  const kj::WaitScope scope(context_.loop);
  try {
    DropPromises();
    disconnected_ = nullptr;
    rpc_.reset();
    network_.reset();
    context_.loop.run();
  } catch (const kj::Exception&) {
    // The session is over in any case.
  }
  input_begin_ = input_end_ = 0;
  read_ = nullptr;
  output_.clear();
  written_ = nullptr;
}

void CapnpConnection::RunLoop() {
  do {
    context_.loop.run();
  } while (Feed());
}

// Returns whether bytes from the peer are of use now.
bool CapnpConnection::IsAwaited() {
  return read_.get() != nullptr && read_->isWaiting() && MayRead();
}

// Large messages are read where they belong. Otherwise the input is empty if
// more is awaited.
void CapnpConnection::Receive(uint32_t epoll_events) {
  if (!IsAwaited()) {
    if (epoll_events & (EPOLLERR | EPOLLHUP)) {
      Break(StreamError::kClosedByPeer);
    }
    return;
  }
  if (wanted_.max_bytes >= kInputBytes) {
    const size_t received = ReadInto(wanted_.to, wanted_.max_bytes);
    wanted_.to += received;
    wanted_.min_bytes -= std::min(received, wanted_.min_bytes);
    wanted_.max_bytes -= received;
    wanted_.taken_bytes += received;
  } else {
    input_begin_ = 0;
    input_end_ = ReadInto(input_.get(), kInputBytes);
  }
  read_ns_ = RealClock().MonotonicNs();
}

// Moves as much of the input as is wanted.
void CapnpConnection::TakeInput() {
  const size_t count = std::min(input_end_ - input_begin_, wanted_.max_bytes);
  std::memcpy(wanted_.to, input_.get() + input_begin_, count);
  input_begin_ += count;
  wanted_.to += count;
  wanted_.min_bytes -= std::min(count, wanted_.min_bytes);
  wanted_.max_bytes -= count;
  wanted_.taken_bytes += count;
}

// Gives Cap'n Proto what it waits for, if that is there. Returns whether it is.
bool CapnpConnection::Feed() {
  if (events_ == nullptr || !IsAwaited()) return false;
  TakeInput();
  if (wanted_.min_bytes > 0) return false;
  // As with writes.
  auto read = kj::mv(read_);
  read->fulfill(kj::cp(wanted_.taken_bytes));
  return true;
}

kj::Promise<size_t> CapnpConnection::tryRead(void* buffer, size_t min_bytes,
                                             size_t max_bytes) {
  wanted_ = {.to = static_cast<char*>(buffer),
             .min_bytes = min_bytes,
             .max_bytes = max_bytes,
             .taken_bytes = 0};
  if (events_ != nullptr && MayRead()) {
    TakeInput();
    if (wanted_.min_bytes == 0) return wanted_.taken_bytes;
  }
  auto pair = kj::newPromiseAndFulfiller<size_t>();
  read_ = kj::mv(pair.fulfiller);
  return kj::mv(pair.promise);
}

kj::Promise<void> CapnpConnection::write(const void* buffer, size_t size) {
  output_.assign(1, {.iov_base = const_cast<void*>(buffer), .iov_len = size});
  return SendOutput();
}

kj::Promise<void> CapnpConnection::write(
    kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) {
  output_.clear();
  for (const auto& piece : pieces) {
    output_.push_back({.iov_base = const_cast<kj::byte*>(piece.begin()),
                       .iov_len = piece.size()});
  }
  return SendOutput();
}

// Cap'n Proto writes one message after the other. If this breaks the
// connection, the session ends before the promise does.
kj::Promise<void> CapnpConnection::SendOutput() {
  next_output_ = 0;
  ContinueOutput();
  if (next_output_ == output_.size()) return kj::READY_NOW;
  auto pair = kj::newPromiseAndFulfiller<void>();
  written_ = kj::mv(pair.fulfiller);
  return kj::mv(pair.promise);
}

void CapnpConnection::ContinueOutput() {
  // If nobody waits for it, the message may be gone.
  if (written_.get() != nullptr && !written_->isWaiting()) output_.clear();
  while (next_output_ < output_.size() && accepts_writes()) {
    iovec* const next = &output_[next_output_];
    const size_t count = std::min(kMaxPieces, output_.size() - next_output_);
    ssize_t sent = stream().Send(next, static_cast<int>(count));
    if (sent < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return OnFull();
      return BreakWithStreamError(StreamError::kSocketFailed);
    }
    while (next_output_ < output_.size() &&
           sent >= static_cast<ssize_t>(output_[next_output_].iov_len)) {
      sent -= static_cast<ssize_t>(output_[next_output_++].iov_len);
    }
    if (sent == 0) continue;
    iovec& rest = output_[next_output_];
    rest.iov_base = static_cast<char*>(rest.iov_base) + sent;
    rest.iov_len -= sent;
  }
  if (written_.get() == nullptr || next_output_ < output_.size()) return;
  // The fulfiller must be gone when the next write begins.
  auto written = kj::mv(written_);
  written->fulfill();
}

}  // namespace distbench
