// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_STREAM_H_
#define DISTBENCH_PROTOCOL_TCP_STREAM_H_

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "distbench/protocol/tcp/wire_time.h"
#include "distbench/security/tls_session.h"

namespace distbench::protocol {

// What a client says first on a connection, and how it makes sure that the
// server belongs to its test; without the socket. Any input is safe.
class ClientGreeting {
 public:
  virtual ~ClientGreeting() = default;

  // Returns what must be sent now; may be empty.
  virtual std::string TakeOutput() = 0;

  // The number of bytes that the server must send before it hears from this
  // side again; 0 if the greeting is over once the output was sent.
  virtual size_t missing_bytes() const = 0;

  // Takes bytes from the server, at most missing_bytes(). After an error no
  // more bytes are expected.
  virtual StreamError Receive(absl::string_view bytes) = 0;
};

// Makes the greeting of a test with this nonce.
using MakeClientGreeting =
    std::unique_ptr<ClientGreeting> (*)(absl::string_view nonce);

// The tcp driver's (greeting.h).
std::unique_ptr<ClientGreeting> MakeTcpGreeting(absl::string_view nonce);

// How every connection of a driver secures itself against wrong peers, and what
// it asks of its socket.
struct ConnectionSecurity {
  // See DriverEnvironment.
  std::string test_nonce = {};

  // Null means plain text.
  std::shared_ptr<security::TlsContext> tls = {};

  // How a client greets a server before anything else is sent. Null if the
  // protocol makes sure only later that the server knows the nonce.
  MakeClientGreeting greet = MakeTcpGreeting;

  // Shared by all connections; never null.
  std::shared_ptr<DriverNetwork> network = std::make_shared<DriverNetwork>();

  // Which calls of clients get time stamps.
  config::WireTimeOptions wire_time = {};
};

// A connected socket, with or without TLS. Used by one thread at a time.
class Stream {
 public:
  Stream() = default;
  explicit Stream(base::FileDescriptor socket) : socket_(std::move(socket)) {}
  Stream(Stream&&) = default;
  Stream& operator=(Stream&& other);
  ~Stream() { Close(); }

  // Takes time stamps of what is sent and received (wire_time.h). Call it once,
  // when the socket has connected and before anything is sent, and before
  // Secure(). The error is that of SocketStamps::Begin().
  absl::Status TakeStamps(config::WireClock clock);

  // Null without TakeStamps().
  SocketStamps* stamps() const { return stamps_.get(); }

  // Takes what the kernel has reported of sends, other than their stamps.
  // Returns false if it has reported nothing.
  bool TakeReports(ZeroCopyReports& reports);

  // Uses TLS from now on, if `security` has it.
  void Secure(const ConnectionSecurity& security,
              security::TlsContext::Side side);

  // What the stream does from now on is noted here, which must outlive it.
  void NoteIn(TurnWork& work) { work_ = &work; }

  // Continues the TLS handshake; returns kReady at once without TLS.
  security::TlsSession::State Handshake();

  bool is_open() const { return socket_.is_open(); }
  int fd() const { return socket_.get(); }

  // With TLS, tells the peer so.
  void Close();

  // As recv(). May hold bytes back if `size` is less than a TLS record's size.
  ssize_t Receive(char* buffer, size_t size) {
    const ssize_t received =
        is_plain_ ? distbench::protocol::Receive(socket_.get(), buffer, size)
                  : ReceiveOtherwise(buffer, size);
    if (received > 0 && work_ != nullptr) work_->NoteReceived(received);
    return received;
  }

  // As sendmsg(): sends as much of the pieces as the socket accepts. After
  // EAGAIN the next call must begin with the same bytes.
  ssize_t Send(const iovec* pieces, int count) {
    return NoteSent(is_plain_ ? SendPieces(socket_.get(), pieces, count)
                              : SendOtherwise(pieces, count));
  }

  // As Send(), of bytes that never change, and without copying them where the
  // kernel can. Not with TLS.
  ssize_t SendWithoutCopy(const iovec& piece);

  // Explains why the last call failed.
  std::string Error() const;

 private:
  ssize_t ReceiveOtherwise(char* buffer, size_t size);
  ssize_t SendOtherwise(const iovec* pieces, int count);
  ssize_t NoteSent(ssize_t sent) {
    if (sent > 0 && work_ != nullptr) work_->NoteSent(sent);
    return sent;
  }

  base::FileDescriptor socket_;
  std::unique_ptr<SocketStamps> stamps_;       // none: no time stamps
  std::unique_ptr<security::TlsSession> tls_;  // none: plain text
  bool is_plain_ = true;                       // neither of them
  bool sends_without_copy_ = false;            // has done so
  TurnWork* work_ = nullptr;                   // null: it is nobody's turn
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_STREAM_H_
