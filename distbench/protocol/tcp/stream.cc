// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream.h"

#include <cerrno>
#include <cstring>

namespace distbench::protocol {

void Stream::Secure(const ConnectionSecurity& security,
                    security::TlsContext::Side side) {
  if (security.tls == nullptr) return;
  tls_ = security.tls->NewSession(socket_.get(), side);
}

security::TlsSession::State Stream::Handshake() {
  if (tls_ == nullptr) return security::TlsSession::State::kReady;
  if (work_ != nullptr) work_->NoteHandshake();
  return tls_->Handshake();
}

Stream& Stream::operator=(Stream&& other) {
  Close();
  socket_ = std::move(other.socket_);
  tls_ = std::move(other.tls_);
  work_ = other.work_;
  return *this;
}

void Stream::Close() {
  if (tls_ != nullptr) tls_->Finish();
  tls_.reset();
  socket_.Close();
}

std::string Stream::Error() const {
  if (tls_ != nullptr && !tls_->error().empty()) return tls_->error();
  return std::strerror(errno);
}

}  // namespace distbench::protocol
