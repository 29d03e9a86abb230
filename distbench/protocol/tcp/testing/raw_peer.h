// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The other end of a tcp driver's connections, byte by byte, for tests.

#ifndef DISTBENCH_PROTOCOL_TCP_TESTING_RAW_PEER_H_
#define DISTBENCH_PROTOCOL_TCP_TESTING_RAW_PEER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "distbench/base/listen_address.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench::protocol {

// The bytes of a hello.
std::string HelloBytes();

// The bytes of a frame.
std::string FrameBytes(FrameHeader header, const std::string& message);

// One connection. Its methods wait, up to some seconds.
class RawConnection {
 public:
  explicit RawConnection(base::FileDescriptor socket)
      : socket_(std::move(socket)) {}

  // Connects.
  static RawConnection To(const std::string& address);

  bool is_open() const { return socket_.is_open(); }
  void Send(const std::string& bytes);

  // Exchanges hellos for a test without a nonce.
  void Greet(Greeting::Side side);

  // Returns `count` bytes, or fewer if the peer closes first.
  std::string Receive(size_t count);

  // Returns the bytes that are available now.
  std::string ReceiveAvailable();

  // Returns whether the peer closes, possibly after sending more bytes.
  bool PeerCloses();

  void Close() { socket_.Close(); }

 private:
  bool WaitUntilReadable();

  base::FileDescriptor socket_;
};

class RawListener {
 public:
  RawListener();

  std::string address() const;

  // Waits for a connection.
  RawConnection Accept();

  // Waits for a connection and exchanges hellos.
  RawConnection AcceptWithHello();

  // Refuses connections from now on.
  void Close() { listener_.socket.Close(); }

 private:
  base::ListeningSocket listener_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TESTING_RAW_PEER_H_
