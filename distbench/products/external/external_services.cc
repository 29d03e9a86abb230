#include "distbench/products/external/external_services.h"

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/products/external/csv_rows.h"

namespace distbench::external {
namespace {

constexpr size_t kMaxHostLength = 253;

constexpr char kHostPortForm[] =
    "is not HOST:PORT; write a name, an IPv4 address or an IPv6 address in "
    "brackets, then a port from 1 to 65535, such as cache.example.com:443";

bool IsHostByte(char byte) {
  return absl::ascii_isalnum(static_cast<unsigned char>(byte)) || byte == '-' ||
         byte == '.' || byte == '_';
}

bool IsAddressByte(char byte) {
  return absl::ascii_isxdigit(static_cast<unsigned char>(byte)) ||
         byte == ':' || byte == '.';
}

template <typename Condition>
bool ConsistsOf(absl::string_view text, Condition condition) {
  for (const char byte : text) {
    if (!condition(byte)) return false;
  }
  return !text.empty() && text.size() <= kMaxHostLength;
}

bool IsHost(absl::string_view host) {
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
    return absl::StrContains(host, ':') && ConsistsOf(host, IsAddressByte);
  }
  return ConsistsOf(host, IsHostByte);
}

ExternalServer ToExternalServer(const ExternalService& service, double rate) {
  return {.uses_tls = service.has_tls(),
          .ca_certificates = service.tls().ca_certificates(),
          .server_name = service.tls().server_name(),
          .max_rate = rate};
}

bool IsClient(const RpcSpec& rpc, absl::string_view service) {
  for (const std::string& client : rpc.client()) {
    if (client == service) return true;
  }
  return false;
}

}  // namespace

absl::Status CheckHostPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  int port;
  if (colon == absl::string_view::npos || !IsHost(address.substr(0, colon)) ||
      !ConsistsOf(address.substr(colon + 1), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 ||
      port > 65535) {
    return absl::InvalidArgumentError(kHostPortForm);
  }
  return absl::OkStatus();
}

ExternalCall ToExternalCall(const ExternalCallSpec& spec) {
  ExternalCall call;
  call.method = spec.method();
  call.is_json = !spec.has_request_text();
  call.request = call.is_json ? spec.request_json() : spec.request_text();
  if (call.is_json && call.request.empty()) call.request = "{}";
  const std::map<std::string, std::string> metadata(spec.metadata().begin(),
                                                    spec.metadata().end());
  call.metadata.assign(metadata.begin(), metadata.end());
  if (absl::StatusOr<CsvRows> rows = ParseCsvRows(spec.rows()); rows.ok()) {
    call.rows = *std::move(rows);
  }
  call.descriptors = spec.descriptors();
  return call;
}

ExternalCalls ExternalCallsOf(const DistributedSystemDescription& test,
                              absl::string_view service,
                              const security::InstanceLimits& rates) {
  const config::NameIndex services(test.services());
  ExternalCalls external;
  external.seed = test.random_seed();
  for (int i = 0; i < test.rpc_descriptions_size(); ++i) {
    const RpcSpec& rpc = test.rpc_descriptions(i);
    if (!rpc.has_external_call() || !IsClient(rpc, service)) continue;
    external.calls[i] = ToExternalCall(rpc.external_call());
    const ExternalService& server =
        test.services(services.Find(rpc.server())).external();
    external.calls[i].servers.assign(server.addresses().begin(),
                                     server.addresses().end());
    for (const std::string& address : server.addresses()) {
      const auto rate = rates.find(address);
      external.servers[address] =
          ToExternalServer(server, rate == rates.end() ? 0 : rate->second);
    }
  }
  return external;
}

std::map<std::string, std::set<std::string>> ClientsByTarget(
    const DistributedSystemDescription& test) {
  const config::NameIndex services(test.services());
  std::map<std::string, std::set<std::string>> clients;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    const ServiceSpec& server = test.services(services.Find(rpc.server()));
    for (const std::string& address : server.external().addresses()) {
      clients[address].insert(rpc.client().begin(), rpc.client().end());
    }
  }
  return clients;
}

void RedactSecrets(DistributedSystemDescription& test) {
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    if (!rpc.has_external_call()) continue;
    ExternalCallSpec& call = *rpc.mutable_external_call();
    for (auto& [name, value] : *call.mutable_metadata()) value = kRedacted;
    if (call.has_rows()) call.set_rows(kRedacted);
  }
}

}  // namespace distbench::external
