// TLS 1.3 over sockets that do not block, for those who have no RPC stack that
// brings it: the tcp driver.

#ifndef DISTBENCH_SECURITY_TLS_SESSION_H_
#define DISTBENCH_SECURITY_TLS_SESSION_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/security/tls_files.h"

struct ssl_ctx_st;
struct ssl_st;

namespace distbench {

// One side of one connection. Used by one thread at a time.
class TlsSession {
 public:
  enum class State { kWantsRead, kWantsWrite, kReady, kFailed };

  // Of a record.
  static constexpr size_t kMaxRecordBytes = 16 * 1024;

  // Goes on with the handshake, as far as the socket lets it.
  State Handshake();

  // As recv(): 0 at the end of the stream; -1 with errno, EAGAIN or what is
  // wrong. Bytes stay inside the session only if `size` is less than a record.
  ssize_t Receive(char* buffer, size_t size);

  // As send(). After EAGAIN the next call must begin with the same bytes.
  ssize_t Send(const char* data, size_t size);

  // What failed, for people; empty: nothing.
  const std::string& error() const { return error_; }

 private:
  friend class TlsContext;
  struct Free {
    void operator()(ssl_st* ssl) const;
  };

  explicit TlsSession(ssl_st* ssl) : ssl_(ssl) {}

  // What recv() or send() would return.
  ssize_t ToResult(int result);
  void TakeError();

  const std::unique_ptr<ssl_st, Free> ssl_;
  std::string error_;
};

// What the sessions of a process have in common. Both sides show a certificate,
// and ask for one that an authority of files.ca has signed; names are not
// looked at. Certificates that were renewed count from the next connection on.
// Thread-safe.
class TlsContext {
 public:
  // `files` are those of a node.
  static absl::StatusOr<std::unique_ptr<TlsContext>> Make(TlsFiles files);
  ~TlsContext();

  enum class Side { kClient, kServer };

  // Does not own the socket, which must outlive the session.
  std::unique_ptr<TlsSession> NewSession(int fd, Side side)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Context = std::shared_ptr<ssl_ctx_st>;

  explicit TlsContext(TlsFiles files) : files_(std::move(files)) {}

  absl::StatusOr<Context> Load() const;
  Context Current() ABSL_LOCKS_EXCLUDED(mutex_);
  std::string FileTimes() const;

  const TlsFiles files_;
  absl::Mutex mutex_;
  Context context_ ABSL_GUARDED_BY(mutex_);
  std::string loaded_times_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_look_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SECURITY_TLS_SESSION_H_
