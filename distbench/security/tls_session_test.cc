// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/security/tls_session.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_socket.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::security {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using State = TlsSession::State;

// System calls of all sessions.
int receive_calls = 0;
int send_calls = 0;
size_t largest_send = 0;

const SocketCalls kCountingCalls = {
    .receive =
        [](int fd, void* buffer, size_t size, int flags) {
          ++receive_calls;
          return recv(fd, buffer, size, flags);
        },
    .send =
        [](int fd, const void* data, size_t size, int flags) {
          ++send_calls;
          largest_send = std::max(largest_send, size);
          return send(fd, data, size, flags);
        },
};

// Two connected sockets with a session on each.
class Pair {
 public:
  Pair(TlsContext& client, TlsContext& server, const SocketCalls& calls = {}) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds_), 0);
    client_ = client.NewSession(fds_[0], TlsContext::Side::kClient, calls);
    server_ = server.NewSession(fds_[1], TlsContext::Side::kServer, calls);
  }
  ~Pair() {
    CloseClient();
    close(fds_[1]);
  }

  // Continues both handshakes until both are ready or one has failed.
  void Shake() {
    for (int i = 0; i < 100; ++i) {
      client_state_ = client_->Handshake();
      server_state_ = server_->Handshake();
      if (client_state_ == State::kFailed || server_state_ == State::kFailed ||
          (client_state_ == State::kReady && server_state_ == State::kReady)) {
        return;
      }
    }
  }

  bool ready() const {
    return client_state_ == State::kReady && server_state_ == State::kReady;
  }
  TlsSession& client() { return *client_; }
  TlsSession& server() { return *server_; }
  void CloseClient() {
    if (fds_[0] >= 0) close(fds_[0]);
    fds_[0] = -1;
  }

 private:
  int fds_[2];
  State client_state_ = State::kWantsRead;
  State server_state_ = State::kWantsRead;
  std::unique_ptr<TlsSession> client_;
  std::unique_ptr<TlsSession> server_;
};

ssize_t Send(TlsSession& session, absl::string_view bytes) {
  const iovec piece = {.iov_base = const_cast<char*>(bytes.data()),
                       .iov_len = bytes.size()};
  return session.Send(&piece, 1);
}

class TlsSessionTest : public testing::Test {
 protected:
  const TestAuthority authority_{"authority"};
  const TlsFiles node_ = authority_.IssueForLocalhost("node");
  const std::unique_ptr<TlsContext> context_ = TlsContext::Make(node_).value();
};

TEST_F(TlsSessionTest, CarriesBytesBothWays) {
  Pair pair(*context_, *context_);
  pair.Shake();
  ASSERT_TRUE(pair.ready()) << pair.client().error() << pair.server().error();
  char buffer[100];
  EXPECT_EQ(pair.server().Receive(buffer, sizeof(buffer)), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(Send(pair.client(), "hello"), 5);
  // In two pieces: the rest stays in the session.
  ASSERT_EQ(pair.server().Receive(buffer, 2), 2);
  ASSERT_EQ(pair.server().Receive(buffer + 2, sizeof(buffer) - 2), 3);
  EXPECT_EQ(std::string(buffer, 5), "hello");
  ASSERT_EQ(Send(pair.server(), "you"), 3);
  EXPECT_EQ(pair.client().Receive(buffer, sizeof(buffer)), 3);
}

TEST_F(TlsSessionTest, GoesOnAfterTheSocketWasFull) {
  Pair pair(*context_, *context_);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  const std::string block(TlsSession::kMaxRecordBytes, 'x');
  size_t sent = 0;
  ssize_t part;
  while ((part = Send(pair.client(), block)) > 0) {
    sent += part;
  }
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(sent, block.size());
  const auto drain = [&pair] {
    std::string buffer(1 << 20, '\0');
    size_t received = 0;
    ssize_t count;
    while ((count = pair.server().Receive(buffer.data(), buffer.size())) > 0) {
      received += count;
    }
    EXPECT_EQ(errno, EAGAIN);
    return received;
  };
  size_t received = drain();
  // The same bytes at another address.
  const std::string copy = block;
  part = Send(pair.client(), copy);
  ASSERT_GT(part, 0);
  sent += part;
  received += drain();
  EXPECT_EQ(received, sent);
}

TEST_F(TlsSessionTest, ReceivesManyRecordsBySystemCall) {
  Pair pair(*context_, *context_, kCountingCalls);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Send(pair.client(), "hello"), 5);
  std::string buffer(64 * 1024, '\0');
  receive_calls = 0;
  EXPECT_EQ(pair.server().Receive(buffer.data(), buffer.size()), 500);
  EXPECT_EQ(receive_calls, 1);
  EXPECT_EQ(buffer.substr(490, 10), "hellohello");
  EXPECT_EQ(pair.server().Receive(buffer.data(), buffer.size()), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(receive_calls, 2);
}

TEST_F(TlsSessionTest, SendsManyRecordsBySystemCall) {
  Pair pair(*context_, *context_, kCountingCalls);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  const std::string bytes(TlsSession::kMaxSendBytes, 'x');
  send_calls = 0;
  EXPECT_EQ(Send(pair.client(), bytes), bytes.size());
  EXPECT_EQ(send_calls, 1);
}

// Thousands of clients may not read what they have asked for.
TEST_F(TlsSessionTest, AFullSocketHoldsLittleThatIsEncrypted) {
  Pair pair(*context_, *context_, kCountingCalls);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  const std::string bytes(16 << 20, 'x');
  largest_send = 0;
  while (Send(pair.client(), bytes) > 0) {
  }
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(largest_send, 64 * 1024);
  EXPECT_LT(largest_send, 65 * 1024);
}

// Pieces of all sizes, up to several records each.
TEST_F(TlsSessionTest, BytesKeepTheirOrderThroughAFullSocket) {
  Pair pair(*context_, *context_);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  std::string bytes;
  for (int i = 0; i < 400'000; ++i) bytes += absl::StrCat(i, ",");
  std::string received;
  std::string buffer(64 * 1024, '\0');
  size_t sent = 0;
  for (int i = 0; received.size() < bytes.size() && i < 100'000; ++i) {
    std::vector<iovec> pieces;
    size_t position = sent;
    for (size_t size = 0; size < 60'000; size = 3 * size + 1) {
      const size_t taken = std::min(size, bytes.size() - position);
      pieces.push_back({.iov_base = bytes.data() + position, .iov_len = taken});
      position += taken;
    }
    const ssize_t part =
        pair.client().Send(pieces.data(), static_cast<int>(pieces.size()));
    if (part > 0) sent += part;
    // Sometimes the receiver is slow.
    if (i % 5 != 0) continue;
    const ssize_t count = pair.server().Receive(buffer.data(), buffer.size());
    if (count > 0) received.append(buffer, 0, count);
  }
  EXPECT_EQ(sent, bytes.size());
  EXPECT_TRUE(received == bytes);
}

bool is_full = false;

const SocketCalls kCallsOfAFullSocket = {
    .send =
        [](int fd, const void* data, size_t size, int flags) {
          if (!is_full) return send(fd, data, size, flags);
          errno = EAGAIN;
          return ssize_t{-1};
        },
};

TEST(TlsSocketTest, WhatIsWrittenWhileReadingAheadNeedNotWait) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  TlsSocket socket(fds[0], kCallsOfAFullSocket);
  BIO* const bio = socket.NewBio();
  is_full = true;
  EXPECT_EQ(BIO_write(bio, "a", 1), -1);
  socket.BeginReadingAhead(TlsSocket::kMaxReadAheadBytes);
  EXPECT_EQ(BIO_write(bio, "b", 1), 1);
  EXPECT_EQ(BIO_write(bio, "c", 1), 1);
  socket.EndReadingAhead();
  EXPECT_FALSE(socket.SendRest());
  is_full = false;
  EXPECT_TRUE(socket.SendRest());
  char buffer[10];
  EXPECT_EQ(read(fds[1], buffer, sizeof(buffer)), 2);
  EXPECT_EQ(std::string(buffer, 2), "bc");
  BIO_free(bio);
  close(fds[0]);
  close(fds[1]);
}

TEST(TlsSocketTest, AnswersLeaveOnceThereIsRoom) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  TlsSocket socket(fds[0], kCallsOfAFullSocket);
  BIO* const bio = socket.NewBio();
  socket.BeginReadingAhead(TlsSocket::kMaxReadAheadBytes);
  is_full = true;
  EXPECT_EQ(BIO_write(bio, "a", 1), 1);
  is_full = false;
  // Nothing else has to be sent.
  EXPECT_EQ(BIO_write(bio, "b", 1), 1);
  char buffer[10];
  EXPECT_EQ(read(fds[1], buffer, sizeof(buffer)), 2);
  EXPECT_EQ(std::string(buffer, 2), "ab");
  BIO_free(bio);
  close(fds[0]);
  close(fds[1]);
}

// A peer that does not read them must not fill the memory.
TEST_F(TlsSessionTest, AnswersThatWaitHaveALimit) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const auto session = context_->NewSession(fds[0], TlsContext::Side::kServer,
                                            kCallsOfAFullSocket);
  SSL_CTX* const reference = context_->NewReference();
  SSL* const peer = SSL_new(reference);
  SSL_CTX_free(reference);
  SSL_set_fd(peer, fds[1]);
  SSL_set_connect_state(peer);
  bool is_ready = false;
  for (int i = 0; i < 100 && !is_ready; ++i) {
    is_ready = SSL_do_handshake(peer) == 1;
    is_ready &= session->Handshake() == State::kReady;
  }
  ASSERT_TRUE(is_ready) << session->error();
  is_full = true;
  std::string buffer(64 * 1024, '\0');
  // Each answer is a record of more than 20 bytes.
  constexpr int kMost = TlsSocket::kMaxAnswerBytes / 20;
  int asked = 0;
  errno = EAGAIN;
  while (asked < kMost && errno == EAGAIN) {
    ++asked;
    ASSERT_EQ(SSL_key_update(peer, SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(peer), 1);
    ASSERT_EQ(session->Receive(buffer.data(), buffer.size()), -1);
  }
  is_full = false;
  EXPECT_EQ(errno, ENOBUFS);
  EXPECT_GT(asked, 100);
  EXPECT_THAT(session->error(), HasSubstr("TLS failed: "));
  SSL_free(peer);
  close(fds[0]);
  close(fds[1]);
}

// The session must answer a KeyUpdate before what it has received behind it.
TEST_F(TlsSessionTest, NothingReceivedIsLostWhenAnAnswerFindsTheSocketFull) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const auto session = context_->NewSession(fds[0], TlsContext::Side::kServer,
                                            kCallsOfAFullSocket);
  SSL_CTX* const reference = context_->NewReference();
  SSL* const peer = SSL_new(reference);
  SSL_CTX_free(reference);
  SSL_set_fd(peer, fds[1]);
  SSL_set_connect_state(peer);
  bool is_ready = false;
  for (int i = 0; i < 100 && !is_ready; ++i) {
    is_ready = SSL_do_handshake(peer) == 1;
    is_ready &= session->Handshake() == State::kReady;
  }
  ASSERT_TRUE(is_ready) << session->error();

  ASSERT_EQ(SSL_key_update(peer, SSL_KEY_UPDATE_REQUESTED), 1);
  ASSERT_EQ(SSL_write(peer, "hello", 5), 5);
  is_full = true;
  std::string buffer(64 * 1024, '\0');
  EXPECT_EQ(session->Receive(buffer.data(), buffer.size()), 5);
  EXPECT_EQ(buffer.substr(0, 5), "hello");
  EXPECT_EQ(Send(*session, "you"), -1);
  EXPECT_EQ(errno, EAGAIN);
  is_full = false;
  EXPECT_EQ(Send(*session, "you"), 3);
  EXPECT_EQ(SSL_read(peer, buffer.data(), static_cast<int>(buffer.size())), 3);
  EXPECT_EQ(buffer.substr(0, 3), "you");
  SSL_free(peer);
  close(fds[0]);
  close(fds[1]);
}

TEST_F(TlsSessionTest, NoticesTheEnd) {
  Pair pair(*context_, *context_);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  char byte;
  pair.client().Finish();
  EXPECT_EQ(pair.server().Receive(&byte, 1), 0) << pair.server().error();
  pair.server().Finish();
  EXPECT_EQ(pair.client().Receive(&byte, 1), 0) << pair.client().error();
}

TEST_F(TlsSessionTest, AnEndWithoutAWordIsNoError) {
  Pair pair(*context_, *context_);
  pair.Shake();
  ASSERT_TRUE(pair.ready());
  pair.CloseClient();
  char byte;
  EXPECT_EQ(pair.server().Receive(&byte, 1), 0) << pair.server().error();
}

TEST_F(TlsSessionTest, RefusesStrangers) {
  const TestAuthority other("stranger");
  const auto stranger =
      TlsContext::Make(other.IssueForLocalhost("node")).value();
  Pair pair(*context_, *stranger);
  pair.Shake();
  EXPECT_FALSE(pair.ready());
  EXPECT_THAT(pair.client().error(),
              AnyOf(HasSubstr("the peer's certificate is refused"),
                    HasSubstr("unknown ca")));
  EXPECT_THAT(pair.client().error(), HasSubstr("--tls_ca"));
}

TEST_F(TlsSessionTest, SaysThatThePeerSpeaksNoTls) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const auto session = context_->NewSession(fds[0], TlsContext::Side::kServer);
  const std::string plain(64, 'd');
  ASSERT_EQ(write(fds[1], plain.data(), plain.size()), 64);
  EXPECT_EQ(session->Handshake(), State::kFailed);
  EXPECT_THAT(session->error(), HasSubstr("TLS failed: "));
  close(fds[0]);
  close(fds[1]);
}

TEST_F(TlsSessionTest, SaysThatThePeerHasClosedDuringTheHandshake) {
  Pair pair(*context_, *context_);
  ASSERT_EQ(pair.server().Handshake(), State::kWantsRead);
  pair.CloseClient();
  errno = ENOENT;  // of an earlier call
  EXPECT_EQ(pair.server().Handshake(), State::kFailed);
  EXPECT_THAT(pair.server().error(), Not(HasSubstr(std::strerror(ENOENT))));
}

TEST_F(TlsSessionTest, RenewedCertificatesCount) {
  // An untrusted authority signs the new certificate, so that a difference is
  // visible.
  const TestAuthority other("other");
  TlsFiles theirs = other.IssueForLocalhost("node");
  theirs.ca = node_.ca;
  const auto renewed = TlsContext::Make(theirs).value();
  {
    Pair pair(*context_, *renewed);
    pair.Shake();
    ASSERT_FALSE(pair.ready());
  }
  const TlsFiles good = authority_.IssueForLocalhost("renewed");
  ASSERT_EQ(rename(good.key.c_str(), theirs.key.c_str()), 0);
  ASSERT_EQ(rename(good.cert.c_str(), theirs.cert.c_str()), 0);
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  bool accepted = false;
  while (!accepted && absl::Now() < deadline) {
    Pair pair(*context_, *renewed);
    pair.Shake();
    accepted = pair.ready();
  }
  EXPECT_TRUE(accepted);
}

}  // namespace
}  // namespace distbench::security
