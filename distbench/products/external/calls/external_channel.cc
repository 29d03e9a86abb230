// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_channel.h"

#include <google/protobuf/descriptor.pb.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/grpc_calls.h"
#include "distbench/base/host_port.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/external/requests/descriptors.h"
#include "distbench/protocol/grpc/wire/channel.h"
#include "distbench/security/credentials.h"
#include "proto/reflection.pb.h"

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

absl::StatusOr<std::string> JoinTargetsOf(
    const std::vector<std::string>& addresses, std::optional<size_t> only) {
  std::vector<std::string> targets;
  for (const std::string& address : addresses) {
    absl::StatusOr<std::string> target = TargetOfHostPort(address);
    if (!target.ok()) return target;
    targets.push_back(*std::move(target));
  }
  if (targets.size() == 1) return targets[0];
  if (only.has_value()) targets = {targets[*only]};
  return protocol::JoinTargets(targets);
}

namespace tls_api = grpc::experimental;

// Credentials that take any certificate.
security::CoreChannelCredentials MakeUnverifiedCredentials(
    const ExternalServer& server) {
  tls_api::TlsChannelCredentialsOptions options;
  if (!server.client_certificates.empty()) {
    options.set_certificate_provider(
        std::make_shared<tls_api::StaticDataCertificateProvider>(
            std::vector<tls_api::IdentityKeyCertPair>{
                {server.client_key, server.client_certificates}}));
    options.watch_identity_key_cert_pairs();
  }
  options.set_verify_server_certs(false);
  options.set_certificate_verifier(
      std::make_shared<tls_api::NoOpCertificateVerifier>());
  options.set_check_call_host(false);
  return security::CoreChannelCredentials(
      grpc_tls_credentials_create(options.c_credentials_options()));
}

security::CoreChannelCredentials MakeCredentials(const ExternalServer& server) {
  if (!server.uses_tls) {
    return security::CoreChannelCredentials(grpc_insecure_credentials_create());
  }
  if (server.skips_verification) return MakeUnverifiedCredentials(server);
  const char* const roots =
      server.ca_certificates.empty() ? nullptr : server.ca_certificates.c_str();
  grpc_ssl_pem_key_cert_pair shown = {server.client_key.c_str(),
                                      server.client_certificates.c_str()};
  return security::CoreChannelCredentials(grpc_ssl_credentials_create(
      roots, server.client_certificates.empty() ? nullptr : &shown, nullptr,
      nullptr));
}

void LimitResponses(const ExternalServer& server, ChannelUse use,
                    protocol::ChannelArguments& arguments) {
  const bool is_limited = use == ChannelUse::kTraffic;
  arguments.Set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
                is_limited ? server.max_response_bytes : int64_t{-1});
  arguments.Set(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION,
                is_limited ? int64_t{0} : int64_t{1});
}

// The name that the server's certificate must have, and that requests are for.
std::string AuthorityOf(const std::string& target,
                        const ExternalServer& server) {
  return server.server_name.empty() ? std::string(HostPortOfTarget(target))
                                    : server.server_name;
}

}  // namespace

bool IsExternal(const protocol::Peer& peer) {
  return absl::StartsWith(peer.addresses[0], config::kOutsidePrefix);
}

std::vector<std::string> TargetsOf(const protocol::Peer& peer) {
  std::vector<std::string> result;
  for (const std::string& address : peer.addresses) {
    result.emplace_back(absl::StripPrefix(address, config::kOutsidePrefix));
  }
  return result;
}

std::vector<std::string> HostPortsOf(const protocol::Peer& peer,
                                     const ExternalCalls& calls) {
  std::vector<std::string> result;
  for (const std::string& target : TargetsOf(peer)) {
    if (!IsName(target)) {
      result.push_back(target);
      continue;
    }
    const auto server = calls.servers.find(target);
    if (server == calls.servers.end()) continue;
    for (const auto& [address, rate] : server->second.pinned) {
      result.push_back(address);
    }
  }
  return result;
}

ExternalServer ServerOf(const protocol::Peer& peer,
                        const ExternalCalls& calls) {
  const auto found = calls.servers.find(TargetsOf(peer)[0]);
  return found == calls.servers.end() ? ExternalServer() : found->second;
}

absl::StatusOr<protocol::Channel> MakeExternalChannel(
    const protocol::Peer& peer, const ExternalCalls& calls, ChannelUse use,
    std::optional<size_t> only) {
  const std::vector<std::string> addresses = HostPortsOf(peer, calls);
  const std::string first = TargetsOf(peer)[0];
  if (addresses.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(first, " was not looked up when the test began"));
  }
  const absl::StatusOr<std::string> target = JoinTargetsOf(addresses, only);
  if (!target.ok()) return target.status();
  const ExternalServer server = ServerOf(peer, calls);
  protocol::ChannelArguments arguments;
  LimitResponses(server, use, arguments);
  arguments.Set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  if (!server.user_agent.empty()) {
    arguments.Set(GRPC_ARG_PRIMARY_USER_AGENT_STRING, server.user_agent);
  }
  arguments.Set(GRPC_ARG_DEFAULT_AUTHORITY, AuthorityOf(first, server));
  // A peer of one name has none.
  const std::string& policy = peer.policy.empty() ? server.policy : peer.policy;
  if (addresses.size() > 1 && !policy.empty() && !only.has_value()) {
    arguments.Set(GRPC_ARG_LB_POLICY_NAME, policy);
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

namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

constexpr const char* kMethods[] = {
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
};

// What a server may say of itself, as much as a descriptor set may have.
constexpr size_t kMaxBytes = size_t{8} << 20;

constexpr char kRemedy[] =
    "give the RPC a descriptor set instead (`protoc --include_imports "
    "--descriptor_set_out=FILE`), or let the server offer reflection";

// The reflection of one server.
class ReflectionClient {
 public:
  ReflectionClient(protocol::Channel channel, absl::string_view method_path,
                   absl::Time deadline, const std::atomic<bool>& aborted)
      : server_(channel.target()),
        method_path_(method_path),
        deadline_(deadline),
        aborted_(aborted),
        stub_(grpc::CreateChannelInternal(/*host=*/"",
                                          std::move(channel).Release(), {})) {}

  const std::string& server() const { return server_; }

  absl::StatusOr<ReflectionResponse> Ask(const ReflectionRequest& request) {
    absl::Status status;
    for (; version_ < std::size(kMethods); ++version_) {
      ReflectionResponse response;
      status = Call(kMethods[version_], request, response);
      if (aborted_) return absl::CancelledError("connecting was aborted");
      if (status.ok()) return response;
      if (!absl::IsUnimplemented(status)) break;
    }
    return absl::Status(
        status.code(),
        absl::StrCat("the server ", server_,
                     " does not answer gRPC's reflection about ", method_path_,
                     ": ", status.message(), "; ", kRemedy));
  }

 private:
  // The method is a stream of requests and responses; one of each will do.
  absl::Status Call(const char* method, const ReflectionRequest& request,
                    ReflectionResponse& response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline_));
    absl::Notification done;
    absl::Status status;
    stub_.UnaryCall(&context, method, {}, &request, &response,
                    [&](const grpc::Status& ended) {
                      status = base::ToAbslStatus(ended);
                      done.Notify();
                    });
    while (!done.WaitForNotificationWithTimeout(protocol::kAbortLatency)) {
      if (aborted_) context.TryCancel();
    }
    return status;
  }

  const std::string server_;
  const std::string method_path_;
  const absl::Time deadline_;
  const std::atomic<bool>& aborted_;
  size_t version_ = 0;  // of kMethods
  grpc::TemplatedGenericStub<ReflectionRequest, ReflectionResponse> stub_;
};

absl::Status NoSuchService(const std::string& service,
                           ReflectionClient& client) {
  ReflectionRequest request;
  request.set_list_services("*");
  const auto response = client.Ask(request);
  if (!response.ok()) return response.status();
  std::vector<std::string> names;
  for (const auto& known : response->list_services_response().service()) {
    names.push_back(known.name());
  }
  return absl::NotFoundError(absl::StrCat(
      "the server ", client.server(), " has no service ",
      config::Quoted(service), "; ", config::Suggestion(service, names)));
}

// Collects files and what they import.
class FileCollector {
 public:
  explicit FileCollector(ReflectionClient& client) : client_(client) {}

  absl::Status Collect(const ReflectionResponse& first) {
    if (absl::Status added = Add(first); !added.ok()) return added;
    while (!wanted_.empty()) {
      const std::string name = wanted_.front();
      wanted_.pop_front();
      if (names_.count(name) > 0) continue;
      ReflectionRequest request;
      request.set_file_by_filename(name);
      const auto response = client_.Ask(request);
      if (!response.ok()) return response.status();
      if (absl::Status added = Add(*response); !added.ok()) return added;
      // A file that was not sent is not asked for again.
      names_.insert(name);
    }
    return absl::OkStatus();
  }

  const FileDescriptorSet& files() const { return files_; }

 private:
  absl::Status Add(const ReflectionResponse& response) {
    for (const std::string& bytes :
         response.file_descriptor_response().file_descriptor_proto()) {
      left_bytes_ -= std::min(left_bytes_, bytes.size());
      if (left_bytes_ == 0) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "the server ", client_.server(), " describes itself by more than ",
            kMaxBytes, " bytes; ", kRemedy));
      }
      FileDescriptorProto file;
      if (!file.ParseFromString(bytes)) {
        return absl::InternalError(absl::StrCat(
            "the server ", client_.server(),
            " describes itself by a file that cannot be read; ", kRemedy));
      }
      if (!names_.insert(file.name()).second) continue;
      wanted_.insert(wanted_.end(), file.dependency().begin(),
                     file.dependency().end());
      *files_.add_file() = std::move(file);
    }
    return absl::OkStatus();
  }

  ReflectionClient& client_;
  size_t left_bytes_ = kMaxBytes;
  FileDescriptorSet files_;
  std::set<std::string> names_;
  std::deque<std::string> wanted_;
};

}  // namespace

absl::StatusOr<std::string> AskForDescriptors(
    protocol::Channel channel, absl::string_view method_path,
    absl::Time deadline, const std::atomic<bool>& aborted) {
  const absl::StatusOr<MethodPath> path = ParseMethodPath(method_path);
  if (!path.ok()) return path.status();
  ReflectionClient client(std::move(channel), method_path, deadline, aborted);
  ReflectionRequest request;
  request.set_file_containing_symbol(path->service);
  const auto response = client.Ask(request);
  if (!response.ok()) return response.status();
  if (!response->has_file_descriptor_response()) {
    return NoSuchService(path->service, client);
  }
  FileCollector collector(client);
  if (absl::Status done = collector.Collect(*response); !done.ok()) return done;
  return collector.files().SerializeAsString();
}

}  // namespace distbench::external
