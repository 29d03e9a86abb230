// How to listen, where, and why one can not.

#ifndef DISTBENCH_BASE_LISTEN_ADDRESS_H_
#define DISTBENCH_BASE_LISTEN_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/file_descriptor.h"

namespace distbench {

// All interfaces as a numeric address: "::", which takes IPv4 as well, or
// "0.0.0.0" where the kernel has no IPv6.
std::string AllInterfaces();

struct ListeningSocket {
  FileDescriptor socket;  // does not block
  int port = 0;
};

// Listens at "HOST:PORT" or "[HOST]:PORT"; port 0 is one that is free, and a
// name is the first of its addresses where that is possible. `prepare` sets
// options of the socket that accepted ones are to inherit.
absl::StatusOr<ListeningSocket> ListenAt(
    const std::string& address,
    absl::FunctionRef<void(int fd)> prepare = [](int) {});

// What a server has to listen at, as gRPC takes it: all that the address stands
// for on this host, in numbers, since gRPC is content with one of the addresses
// that a name has, and leaves the others to strangers. An empty address is all
// interfaces. The error says whether the address is unknown, is not of this
// host, or the port is in use or not allowed.
absl::StatusOr<std::vector<std::string>> ListenAddresses(
    const std::string& address, int port);

// A port that is free at everything that the address stands for. Left to
// itself, gRPC picks one that is free for IPv4 or for IPv6, and clients that
// try the other one first may find a stranger there.
absl::StatusOr<int> FindFreePort(const std::string& address);

}  // namespace distbench

#endif  // DISTBENCH_BASE_LISTEN_ADDRESS_H_
