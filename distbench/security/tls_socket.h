// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The socket below a TLS session. OpenSSL reads and writes record by record, a
// record's head and body apart: here one system call receives or sends many
// records.

#ifndef DISTBENCH_SECURITY_TLS_SOCKET_H_
#define DISTBENCH_SECURITY_TLS_SOCKET_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"

struct bio_st;

namespace distbench::security {

// The system calls of a session. Tests count them, and who takes time stamps of
// what is on the wire has calls of its own.
struct SocketCalls {
  std::function<ssize_t(int fd, void* buffer, size_t size, int flags)> receive =
      ::recv;
  std::function<ssize_t(int fd, const void* data, size_t size, int flags)>
      send = ::send;
};

// Does not own the socket, which does not block. Its large buffers are those of
// the calling thread, so that a connection without traffic needs none. Used by
// one thread at a time.
class TlsSocket {
 public:
  // The most that one system call receives.
  static constexpr size_t kMaxReadAheadBytes = 64 * 1024;

  // The most that waits of OpenSSL's answers to a peer.
  static constexpr size_t kMaxAnswerBytes = 64 * 1024;

  TlsSocket(int fd, const SocketCalls& calls) : fd_(fd), calls_(calls) {}

  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  // What OpenSSL reads from and writes to. It owns the result, which this must
  // outlive. Each of its reads and writes is a system call, except as follows.
  bio_st* NewBio();

  // OpenSSL reads what one system call receives, at most `max_bytes`, and then
  // finds no more until EndReadingAhead(). It must have read all of it by then.
  // What it writes meanwhile counts as written: SendRest() sends what the
  // socket does not take. If that becomes too much, writing and reading fail
  // (ENOBUFS).
  void BeginReadingAhead(size_t max_bytes);
  void EndReadingAhead() { reads_ahead_ = false; }
  bool has_unread() const { return !unread_.empty(); }

  // What OpenSSL writes is gathered until SendGathered() sends it by one system
  // call, or it is dropped. Requires that SendRest() returns true.
  void BeginGathering();
  void DropGathered() { gathers_ = false; }

  // These return whether everything was sent. If not, errno says why (EAGAIN:
  // the socket is full), and SendRest() goes on.
  bool SendGathered();
  bool SendRest();

  // Whether the peer has closed the connection.
  bool at_end() const { return at_end_; }

 private:
  friend struct TlsSocketBio;

  // As recv() and send().
  ssize_t Read(char* buffer, size_t size);
  ssize_t Write(const char* data, size_t size);
  ssize_t AppendToRest(const char* data, size_t size);

  ssize_t Receive(char* buffer, size_t size);
  // Sends the first bytes, and returns how many; errno as above.
  size_t SendSome(absl::string_view bytes);

  const int fd_;
  const SocketCalls calls_;

  bool reads_ahead_ = false;
  size_t may_receive_ = 0;    // while reading ahead
  absl::string_view unread_;  // in the thread's buffer
  bool at_end_ = false;

  bool gathers_ = false;
  std::string rest_;  // for which the socket had no room
  size_t answer_bytes_ = 0;  // of it, which OpenSSL has added meanwhile
};

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TLS_SOCKET_H_
