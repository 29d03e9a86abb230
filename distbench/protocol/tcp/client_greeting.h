#ifndef DISTBENCH_PROTOCOL_TCP_CLIENT_GREETING_H_
#define DISTBENCH_PROTOCOL_TCP_CLIENT_GREETING_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/stream_error.h"

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

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CLIENT_GREETING_H_
