// The other end of the tcp driver's connections, byte by byte: for tests.

#ifndef DISTBENCH_PROTOCOL_TCP_RAW_PEER_H_
#define DISTBENCH_PROTOCOL_TCP_RAW_PEER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "distbench/base/listen_address.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench {

// The bytes of a hello.
std::string HelloBytes();

// The bytes of a frame.
std::string FrameBytes(FrameHeader header, const std::string& message);

// One connection. Its methods wait, up to some seconds.
class RawConnection {
 public:
  explicit RawConnection(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Connects.
  static RawConnection To(const std::string& address);

  bool is_open() const { return socket_.is_open(); }
  void Send(const std::string& bytes);

  // Exchanges hellos, of a test without a nonce.
  void Greet(Greeting::Side side);

  // So many bytes, or fewer if the peer closes before.
  std::string Receive(size_t count);

  // What is there now.
  std::string ReceiveAvailable();

  // Whether the peer closes, after any bytes that it may send before.
  bool PeerCloses();

  void Close() { socket_.Close(); }

 private:
  bool WaitUntilReadable();

  FileDescriptor socket_;
};

class RawListener {
 public:
  RawListener();

  std::string address() const;

  // Waits for a connection.
  RawConnection Accept();

  // Likewise, and exchanges hellos.
  RawConnection AcceptWithHello();

  // Refuses connections from now on.
  void Close() { listener_.socket.Close(); }

 private:
  ListeningSocket listener_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_RAW_PEER_H_
