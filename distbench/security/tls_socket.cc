// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_socket.h"

#include <openssl/bio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace distbench::security {
namespace {

bool IsTemporary(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

char* ReceiveBuffer() {
  thread_local const std::unique_ptr<char[]> buffer(
      new char[TlsSocket::kMaxReadAheadBytes]);
  return buffer.get();
}

std::string& Gathered() {
  thread_local std::string gathered;
  return gathered;
}

}  // namespace

// A BIO's methods.
struct TlsSocketBio {
  static TlsSocket& SocketOf(BIO* bio) {
    return *static_cast<TlsSocket*>(BIO_get_data(bio));
  }

  static int Write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    const ssize_t sent = SocketOf(bio).Write(data, size);
    if (sent < 0 && IsTemporary(errno)) BIO_set_retry_write(bio);
    return static_cast<int>(sent);
  }

  static int Read(BIO* bio, char* data, int size) {
    BIO_clear_retry_flags(bio);
    const ssize_t received = SocketOf(bio).Read(data, size);
    if (received < 0 && IsTemporary(errno)) BIO_set_retry_read(bio);
    return static_cast<int>(received);
  }

  static long Control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static const BIO_METHOD* Methods() {
    static const BIO_METHOD* const methods = [] {
      BIO_METHOD* made =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
      BIO_meth_set_write(made, Write);
      BIO_meth_set_read(made, Read);
      BIO_meth_set_ctrl(made, Control);
      return made;
    }();
    return methods;
  }
};

bio_st* TlsSocket::NewBio() {
  BIO* bio = BIO_new(TlsSocketBio::Methods());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  return bio;
}

void TlsSocket::BeginReadingAhead(size_t max_bytes) {
  reads_ahead_ = true;
  may_receive_ = std::min(max_bytes, kMaxReadAheadBytes);
  unread_ = {};
}

ssize_t TlsSocket::Read(char* buffer, size_t size) {
  if (!reads_ahead_) return Receive(buffer, size);
  if (unread_.empty()) {
    if (may_receive_ == 0) {
      errno = EAGAIN;
      return -1;
    }
    const ssize_t received =
        Receive(ReceiveBuffer(), std::exchange(may_receive_, 0));
    if (received <= 0) return received;
    unread_ = absl::string_view(ReceiveBuffer(), received);
  }
  const size_t taken = std::min(size, unread_.size());
  std::memcpy(buffer, unread_.data(), taken);
  unread_.remove_prefix(taken);
  return static_cast<ssize_t>(taken);
}

ssize_t TlsSocket::Receive(char* buffer, size_t size) {
  const ssize_t received = calls_.receive(fd_, buffer, size, 0);
  if (received == 0) at_end_ = true;
  return received;
}

ssize_t TlsSocket::Write(const char* data, size_t size) {
  if (gathers_) {
    Gathered().append(data, size);
    return static_cast<ssize_t>(size);
  }
  if (!SendRest()) return AppendToRest(data, size);
  // No SIGPIPE.
  const ssize_t sent = calls_.send(fd_, data, size, MSG_NOSIGNAL);
  if (!reads_ahead_ || (sent < 0 && !IsTemporary(errno))) return sent;
  // OpenSSL answers what it has read, such as a KeyUpdate. It must not stop
  // reading for that.
  const size_t done = sent < 0 ? 0 : static_cast<size_t>(sent);
  rest_.assign(data + done, size - done);
  return static_cast<ssize_t>(size);
}

// A peer that asks without an end, and does not read the answers, has an error.
ssize_t TlsSocket::AppendToRest(const char* data, size_t size) {
  if (answer_bytes_ + size > kMaxAnswerBytes) {
    errno = ENOBUFS;
    return -1;
  }
  answer_bytes_ += size;
  rest_.append(data, size);
  return static_cast<ssize_t>(size);
}

void TlsSocket::BeginGathering() {
  Gathered().clear();
  gathers_ = true;
}

bool TlsSocket::SendGathered() {
  gathers_ = false;
  const absl::string_view gathered = Gathered();
  const size_t sent = SendSome(gathered);
  if (sent == gathered.size()) return true;
  const int error = errno;
  rest_ = std::string(gathered.substr(sent));
  errno = error;
  return false;
}

bool TlsSocket::SendRest() {
  if (rest_.empty()) return true;
  const size_t sent = SendSome(rest_);
  if (sent == rest_.size()) {
    rest_ = std::string();  // its memory, too
    answer_bytes_ = 0;
    return true;
  }
  rest_.erase(0, sent);
  return false;
}

size_t TlsSocket::SendSome(absl::string_view bytes) {
  const ssize_t sent =
      calls_.send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0 && !IsTemporary(errno)) return 0;
  errno = EAGAIN;  // if it is not all
  return sent < 0 ? 0 : static_cast<size_t>(sent);
}

}  // namespace distbench::security
