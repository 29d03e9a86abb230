// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Listening sockets and addresses, with errors that say why they fail.

#ifndef DISTBENCH_BASE_LISTEN_ADDRESS_H_
#define DISTBENCH_BASE_LISTEN_ADDRESS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distbench/base/files.h"

namespace distbench::base {

// Returns the numeric address of all interfaces: "::", which includes IPv4, or
// "0.0.0.0" if the kernel has no IPv6.
std::string AllInterfaces();

struct ListeningSocket {
  FileDescriptor socket;  // non-blocking
  int port = 0;
};

// Listens at "HOST:PORT" or "[HOST]:PORT". Port 0 picks a free port; a name
// stands for the first of its addresses that can be bound. `prepare` sets
// socket options that accepted sockets inherit. `protocol` is as in socket(2);
// 0 is TCP.
absl::StatusOr<ListeningSocket> ListenAt(
    const std::string& address,
    absl::FunctionRef<void(int fd)> prepare = [](int) {}, int protocol = 0);

// Returns what a server has to listen at, in gRPC's format: all the numeric
// addresses that `address` stands for on this host. Given a name, gRPC is
// content with one of its addresses and leaves the others to other programs. An
// empty address stands for all interfaces. The error says whether the address
// is unknown or not of this host, or the port is in use or not allowed.
absl::StatusOr<std::vector<std::string>> ListenAddresses(
    const std::string& address, int port);

// Finds a port that is free at everything that `address` stands for. By default
// gRPC picks one that is free for IPv4 or for IPv6, and clients that try the
// other one first may reach another program.
absl::StatusOr<int> FindFreePort(const std::string& address);

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_LISTEN_ADDRESS_H_
