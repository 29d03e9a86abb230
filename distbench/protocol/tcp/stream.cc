// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream.h"

#include <cerrno>
#include <cstring>

namespace distbench::protocol {

absl::Status Stream::TakeStamps(config::WireClock clock) {
  stamps_ = std::make_unique<SocketStamps>(socket_.get(), clock);
  is_plain_ = false;
  return stamps_->Begin();
}

bool Stream::TakeReports(ZeroCopyReports& reports) {
  bool any = false;
  if (stamps_ != nullptr) {
    any = stamps_->Collect();
    reports = stamps_->TakeZeroCopy();
  } else if (sends_without_copy_ && is_open()) {
    SocketReport report;
    while (TakeReport(socket_.get(), report)) {
      any = true;
      reports.sends += report.zero_copy.sends;
      reports.copied += report.zero_copy.copied;
    }
  }
  return any;
}

void Stream::Secure(const ConnectionSecurity& security,
                    security::TlsContext::Side side) {
  if (security.tls == nullptr) return;
  tls_ = security.tls->NewSession(
      socket_.get(), side,
      stamps_ == nullptr ? security::SocketCalls() : stamps_->Calls());
  is_plain_ = false;
}

ssize_t Stream::ReceiveOtherwise(char* buffer, size_t size) {
  return tls_ != nullptr ? tls_->Receive(buffer, size)
                         : stamps_->Receive(buffer, size);
}

ssize_t Stream::SendOtherwise(const iovec* pieces, int count) {
  return tls_ != nullptr ? tls_->Send(pieces, count)
                         : stamps_->Send(pieces, count);
}

ssize_t Stream::SendWithoutCopy(const iovec& piece) {
  sends_without_copy_ = true;
  return NoteSent(stamps_ != nullptr
                      ? stamps_->SendWithoutCopy(piece)
                      : protocol::SendWithoutCopy(socket_.get(), piece));
}

security::TlsSession::State Stream::Handshake() {
  if (tls_ == nullptr) return security::TlsSession::State::kReady;
  if (work_ != nullptr) work_->NoteHandshake();
  return tls_->Handshake();
}

Stream& Stream::operator=(Stream&& other) {
  Close();
  socket_ = std::move(other.socket_);
  stamps_ = std::move(other.stamps_);
  tls_ = std::move(other.tls_);
  is_plain_ = other.is_plain_;
  sends_without_copy_ = other.sends_without_copy_;
  work_ = other.work_;
  return *this;
}

void Stream::Close() {
  if (tls_ != nullptr) tls_->Finish();
  tls_.reset();
  stamps_.reset();
  is_plain_ = true;
  socket_.Close();
}

std::string Stream::Error() const {
  if (tls_ != nullptr && !tls_->error().empty()) return tls_->error();
  return std::strerror(errno);
}

}  // namespace distbench::protocol
