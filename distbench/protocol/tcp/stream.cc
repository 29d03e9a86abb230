#include "distbench/protocol/tcp/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace distbench::protocol {

void Stream::Secure(const ConnectionSecurity& security,
                    security::TlsContext::Side side) {
  if (security.tls == nullptr) return;
  tls_ = security.tls->NewSession(socket_.get(), side);
  record_.reset(new char[security::TlsSession::kMaxRecordBytes]);
}

security::TlsSession::State Stream::Handshake() {
  return tls_ == nullptr ? security::TlsSession::State::kReady
                         : tls_->Handshake();
}

void Stream::Close() {
  tls_.reset();
  socket_.Close();
}

// Sends records one after the other, each as full as possible.
ssize_t Stream::SendRecords(const iovec* pieces, int count) {
  constexpr size_t kRoom = security::TlsSession::kMaxRecordBytes;
  ssize_t total = 0;
  size_t offset = 0;  // into the first piece
  while (count > 0) {
    size_t size = 0;
    while (count > 0 && size < kRoom) {
      const size_t taken = std::min(pieces->iov_len - offset, kRoom - size);
      std::memcpy(record_.get() + size,
                  static_cast<const char*>(pieces->iov_base) + offset, taken);
      size += taken;
      offset += taken;
      if (offset < pieces->iov_len) break;
      offset = 0;
      ++pieces;
      --count;
    }
    const ssize_t sent = tls_->Send(record_.get(), size);
    if (sent < 0) return total > 0 ? total : sent;
    total += sent;
    if (static_cast<size_t>(sent) < size) break;
  }
  return total;
}

std::string Stream::Error() const {
  if (tls_ != nullptr && !tls_->error().empty()) return tls_->error();
  return std::strerror(errno);
}

}  // namespace distbench::protocol
