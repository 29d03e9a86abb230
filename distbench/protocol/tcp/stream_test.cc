// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests what streams note of their work.

#include "distbench/protocol/tcp/stream.h"

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "distbench/base/files.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    stream_ = Stream(base::FileDescriptor(ends[0]));
    peer_ = Stream(base::FileDescriptor(ends[1]));
    stream_.NoteIn(work_);
  }

  static void Send(Stream& stream, size_t bytes) {
    std::string sent(bytes, 'x');
    const iovec piece = {.iov_base = sent.data(), .iov_len = bytes};
    ASSERT_EQ(stream.Send(&piece, 1), static_cast<ssize_t>(bytes));
  }
  static void Receive(Stream& stream, size_t bytes) {
    std::string received(bytes, '\0');
    ASSERT_EQ(stream.Receive(received.data(), bytes),
              static_cast<ssize_t>(bytes));
  }

  TurnWork work_;
  Stream stream_;
  Stream peer_;
};

TEST_F(StreamTest, NotesWhatItReceives) {
  Send(peer_, TurnWork::kReceivedBytes);
  Receive(stream_, TurnWork::kReceivedBytes - 1);
  EXPECT_FALSE(work_.is_enough());
  Receive(stream_, 1);
  EXPECT_TRUE(work_.is_enough());
  work_.StartTurn();
  EXPECT_FALSE(work_.is_enough());
}

// Whichever stream object has the socket.
TEST_F(StreamTest, NotesWhatItSends) {
  constexpr size_t kParts = 8;
  constexpr size_t kPartBytes = TurnWork::kSentBytes / kParts;
  Stream moved;
  moved = std::move(stream_);
  for (size_t i = 0; i < kParts; ++i) {
    EXPECT_FALSE(work_.is_enough());
    Send(moved, kPartBytes);
    Receive(peer_, kPartBytes);
  }
  EXPECT_TRUE(work_.is_enough());
}

TEST_F(StreamTest, NotesEachStepOfATlsHandshakeAndNoOther) {
  using State = security::TlsSession::State;
  EXPECT_EQ(stream_.Handshake(), State::kReady);
  EXPECT_FALSE(work_.is_enough()) << "it has no TLS";
  const security::TestAuthority authority("authority");
  const ConnectionSecurity security = {
      .tls = security::TlsContext::Make(authority.IssueForLocalhost("node"))
                 .value()};
  stream_.Secure(security, security::TlsContext::Side::kServer);
  EXPECT_EQ(stream_.Handshake(), State::kWantsRead);
  EXPECT_TRUE(work_.is_enough());
}

}  // namespace
}  // namespace distbench::protocol
