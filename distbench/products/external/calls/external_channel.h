// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CHANNEL_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CHANNEL_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/products/external/external_calls.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::external {

// Whether the peer's servers are not part of the test.
bool IsExternal(const protocol::Peer& peer);

// Returns what an external peer's addresses are in the test: "HOST:PORT" each,
// or a name.
std::vector<std::string> TargetsOf(const protocol::Peer& peer);

// Returns the "HOST:PORT" of all servers of an external peer: names are what
// they stand for.
std::vector<std::string> HostPortsOf(const protocol::Peer& peer,
                                     const ExternalCalls& calls);

// How to reach the servers of a peer: as the first one.
ExternalServer ServerOf(const protocol::Peer& peer, const ExternalCalls& calls);

enum class ChannelUse {
  // Responses are limited, and are not uncompressed by gRPC.
  kTraffic,
  kReflection,
  // Only connects.
  kProbe
};

// Makes a channel to an external peer, over which gRPC chooses among the peer's
// servers by its policy. All of them use TLS as the first one does. Does not
// connect yet. The error names the address that is wrong.
//
// With `only`, makes one to that one of HostPortsOf() alone, as a channel to
// all of them reaches it: at the same address of its host, by the same name.
absl::StatusOr<protocol::Channel> MakeExternalChannel(
    const protocol::Peer& peer, const ExternalCalls& calls, ChannelUse use,
    std::optional<size_t> only = std::nullopt);

// Asks a server, by gRPC's reflection (v1 or v1alpha), for the files that
// define the service of a method, and for all files that these import. Returns
// a serialised FileDescriptorSet. The error names the server, and the services
// that it has if it does not know this one. Blocks until the deadline at most,
// or returns CANCELLED soon after `aborted` is set.
absl::StatusOr<std::string> AskForDescriptors(protocol::Channel channel,
                                              absl::string_view method_path,
                                              absl::Time deadline,
                                              const std::atomic<bool>& aborted);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_CHANNEL_H_
