// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// TLS 1.3 over non-blocking sockets, for drivers without an RPC stack that
// provides TLS, and the certificates of servers over TLS in general.

#ifndef DISTBENCH_SECURITY_TLS_SESSION_H_
#define DISTBENCH_SECURITY_TLS_SESSION_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"
#include "distbench/security/tls_socket.h"

struct ssl_ctx_st;
struct ssl_st;

namespace distbench::security {

// One side of a connection. Used by one thread at a time.
class TlsSession {
 public:
  enum class State { kWantsRead, kWantsWrite, kReady, kFailed };

  // The most bytes in a TLS record.
  static constexpr size_t kMaxRecordBytes = 16 * 1024;

  // The most bytes whose records are sent by one system call. So much of what
  // waits for a full socket is kept here, encrypted; the rest is the caller's.
  static constexpr size_t kMaxSendBytes = 64 * 1024;

  // Continues the handshake, as far as the socket allows.
  State Handshake();

  // Like recv(): returns 0 at the end of the stream, which is also that of a
  // peer that has closed its socket without a word: messages say themselves
  // where they end. Returns -1 with errno on EAGAIN or an error. Bytes remain
  // inside the session only if `size` is less than a record. If it is that of
  // some records, receives by one system call.
  ssize_t Receive(char* buffer, size_t size);

  // Like sendmsg() of these pieces. After EAGAIN, or if not all was sent, the
  // next call must begin with the bytes that were not.
  ssize_t Send(const iovec* pieces, int count);

  // Tells the peer that this was all, if the socket has room. Call it once,
  // before the socket is closed.
  void Finish();

  // The error, for users; empty if there is none.
  const std::string& error() const { return error_; }

 private:
  friend class TlsContext;
  struct Free {
    void operator()(ssl_st* ssl) const;
  };

  // A record of the largest size with its head, padding and checksum.
  static constexpr size_t kMaxSealedBytes = kMaxRecordBytes + 256 + 5;

  TlsSession(ssl_st* ssl, int fd, const SocketCalls& calls);

  class PieceReader;
  ssize_t WriteRecords(PieceReader& bytes);
  ssize_t SendFailed();
  // Converts a result of OpenSSL to that of recv() or send().
  ssize_t ToResult(int result);
  void TakeError();

  TlsSocket socket_;
  const std::unique_ptr<ssl_st, Free> ssl_;
  // Bytes in records for which the socket had no room. Send() has not returned
  // them as sent, so that the caller comes again.
  size_t unreported_bytes_ = 0;
  std::string error_;
};

// The names in the certificate of a session's peer, whose signature was
// checked: its subject's common name and all alternative names. Empty without a
// certificate.
std::vector<std::string> PeerNames(const ssl_st* ssl);

// State shared by a process's sessions. Both sides present a certificate, and
// require that the peer's is signed by an authority of files.ca; names are not
// checked. Renewed certificates apply to new connections. Thread-safe.
class TlsContext {
 public:
  // `files` are those of a node, or of a sequencer: then a server, which
  // requires certificates only if there is a CA. `protocol` is the only one
  // that a session may agree on (ALPN, RFC 7301), such as "h2"; if empty, none
  // is mentioned.
  static absl::StatusOr<std::unique_ptr<TlsContext>> Make(
      TlsFiles files, TlsRole role = TlsRole::kNode,
      absl::string_view protocol = {});
  ~TlsContext();

  enum class Side { kClient, kServer };

  // Does not own the socket, which must outlive the session.
  std::unique_ptr<TlsSession> NewSession(int fd, Side side,
                                         const SocketCalls& calls = {})
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The current certificates, for sessions that another library makes. The
  // caller frees the reference (SSL_CTX_free()).
  ssl_ctx_st* NewReference() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Context = std::shared_ptr<ssl_ctx_st>;

  TlsContext(TlsFiles files, TlsRole role, absl::string_view protocol);

  absl::StatusOr<Context> Load() const;
  Context Current() ABSL_LOCKS_EXCLUDED(mutex_);
  std::string FileTimes() const;

  const TlsFiles files_;
  const TlsRole role_;
  const std::string protocols_;  // as ALPN's list; may be empty
  absl::Mutex mutex_;
  Context context_ ABSL_GUARDED_BY(mutex_);
  std::string loaded_times_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::security

#endif  // DISTBENCH_SECURITY_TLS_SESSION_H_
