#include "distbench/products/external/calls/external_channel.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "distbench/base/host_port.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/grpc/wire/target.h"
#include "distbench/security/credentials.h"

namespace distbench::external {
namespace {

absl::StatusOr<std::string> TargetOfHostPort(const std::string& address) {
  const auto [host, port] = base::SplitHostPort(address);
  int number = 0;
  if (host.empty() || !absl::SimpleAtoi(port, &number) || number < 1 ||
      number > 65'535) {
    return absl::InvalidArgumentError(
        absl::StrCat("the external address \"", address,
                     "\" is not an address; write HOST:PORT"));
  }
  return protocol::TargetOf(host, number);
}

absl::StatusOr<std::string> TargetOfPeer(const protocol::Peer& peer,
                                         std::optional<size_t> only) {
  std::vector<std::string> targets;
  for (const std::string& address : HostPortsOf(peer)) {
    absl::StatusOr<std::string> target = TargetOfHostPort(address);
    if (!target.ok()) return target;
    targets.push_back(*std::move(target));
  }
  if (targets.size() == 1) return targets[0];
  if (only.has_value()) targets = {targets[*only]};
  return protocol::JoinTargets(targets);
}

security::CoreChannelCredentials MakeCredentials(const ExternalServer& server) {
  if (!server.uses_tls) {
    return security::CoreChannelCredentials(grpc_insecure_credentials_create());
  }
  const char* const roots =
      server.ca_certificates.empty() ? nullptr : server.ca_certificates.c_str();
  return security::CoreChannelCredentials(
      grpc_ssl_credentials_create(roots, nullptr, nullptr, nullptr));
}

// The name that the server's certificate must have, and that requests are for.
std::string AuthorityOf(const std::string& address,
                        const ExternalServer& server) {
  return server.server_name.empty() ? address : server.server_name;
}

}  // namespace

bool IsExternal(const protocol::Peer& peer) {
  return absl::StartsWith(peer.addresses[0], config::kOutsidePrefix);
}

std::vector<std::string> HostPortsOf(const protocol::Peer& peer) {
  std::vector<std::string> result;
  for (const std::string& address : peer.addresses) {
    result.emplace_back(absl::StripPrefix(address, config::kOutsidePrefix));
  }
  return result;
}

absl::StatusOr<protocol::Channel> MakeExternalChannel(
    const protocol::Peer& peer, const ExternalCalls& calls,
    std::optional<size_t> only) {
  const absl::StatusOr<std::string> target = TargetOfPeer(peer, only);
  if (!target.ok()) return target.status();
  const std::string first = HostPortsOf(peer)[0];
  const auto found = calls.servers.find(first);
  const ExternalServer server =
      found == calls.servers.end() ? ExternalServer() : found->second;
  protocol::ChannelArguments arguments;
  arguments.Set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
  arguments.Set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  arguments.Set(GRPC_ARG_DEFAULT_AUTHORITY, AuthorityOf(first, server));
  if (!peer.policy.empty() && !only.has_value()) {
    arguments.Set(GRPC_ARG_LB_POLICY_NAME, peer.policy);
  }
  // As for the driver grpc: separate connections, each request sent once and
  // directly, and a server that is back is soon found.
  arguments.Set(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.Set(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.Set(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.Set(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 1);
  arguments.Set(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  std::vector<grpc_arg> list = arguments.AsGrpc();
  const grpc_channel_args args = {.num_args = list.size(), .args = list.data()};
  return protocol::Channel(*target, args, MakeCredentials(server).get());
}

}  // namespace distbench::external
