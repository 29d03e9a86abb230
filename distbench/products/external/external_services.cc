// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/external_services.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/report/measurements/test_totals.h"

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

ExternalServer ToExternalServer(const ExternalService& service,
                                const std::string& address,
                                const security::InstanceLimits& rates) {
  const auto rate = rates.find(address);
  const ExternalTls& tls = service.tls();
  return {
      .uses_tls = service.has_tls(),
      .skips_verification = tls.insecure_skip_verify(),
      .client_certificates = tls.client_certificates(),
      .client_key = tls.client_key(),
      .ca_certificates = tls.ca_certificates(),
      .server_name = tls.server_name(),
      .user_agent = service.user_agent(),
      .connections = static_cast<int>(service.connections()),
      .uses_least_in_flight = service.connection_policy() == "least_in_flight",
      .max_response_bytes = service.max_response_bytes(),
      .max_rate = rate == rates.end() ? 0 : rate->second,
      .pinned = PinnedAddresses(address, rates),
      .policy = service.load_balancing()};
}

CallStream ToCallStream(const StreamSpec& stream) {
  return {.sends_several = stream.client_messages() > 1 ||
                           !stream.client_messages_distribution().empty(),
          .is_echo = stream.response_starts() == "echo"};
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

absl::Status CheckTarget(absl::string_view target) {
  if (absl::StartsWith(target, "xds:")) {
    return absl::InvalidArgumentError(
        "lets a control plane send gRPC to further addresses while the test "
        "runs, which nobody could have allowed; write HOST:PORT of each "
        "server, or dns:///HOST:PORT");
  }
  const absl::string_view address = HostPortOfTarget(target);
  if (absl::StrContains(address, "://")) {
    return absl::InvalidArgumentError(
        "has a scheme other than dns:///; write HOST:PORT, or dns:///HOST:PORT "
        "for all addresses of the host");
  }
  return CheckHostPort(address);
}

std::string PinnedKey(absl::string_view name, absl::string_view address) {
  return absl::StrCat(name, " ", address);
}

std::map<std::string, double> PinnedAddresses(
    absl::string_view name, const security::InstanceLimits& limits) {
  std::map<std::string, double> addresses;
  if (!IsName(name)) return addresses;
  for (const auto& [key, limit] : limits) {
    absl::string_view address = key;
    if (absl::ConsumePrefix(&address, PinnedKey(name, ""))) {
      addresses[std::string(address)] = limit;
    }
  }
  return addresses;
}

ExternalCall ToExternalCall(const RpcSpec& rpc) {
  const ExternalCallSpec& spec = rpc.external_call();
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
  if (spec.has_request_binary()) call.binary_request = spec.request_binary();
  if (rpc.has_stream()) call.stream = ToCallStream(rpc.stream());
  call.uses_gzip = spec.compression() == "gzip";
  call.waits_for_ready = spec.wait_for_ready();
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
    external.calls[i] = ToExternalCall(rpc);
    const ExternalService& server =
        test.services(services.Find(rpc.server())).external();
    external.calls[i].servers.assign(server.addresses().begin(),
                                     server.addresses().end());
    for (const std::string& address : server.addresses()) {
      external.servers[address] = ToExternalServer(server, address, rates);
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
  for (ServiceSpec& service : *test.mutable_services()) {
    if (!service.external().has_tls()) continue;
    ExternalTls& tls = *service.mutable_external()->mutable_tls();
    if (tls.has_client_certificates()) tls.set_client_certificates(kRedacted);
    if (tls.has_client_key()) tls.set_client_key(kRedacted);
  }
}

namespace {

// Some editors begin UTF-8 files with a byte order mark.
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

absl::Status ErrorInLine(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, " ", what));
}

class CsvReader {
 public:
  explicit CsvReader(absl::string_view text)
      : rest_(absl::StripPrefix(text, kByteOrderMark)) {}

  absl::StatusOr<CsvRows> Read() {
    CsvRows rows;
    while (!rest_.empty()) {
      if (EndsLine()) continue;  // a line without anything is no row
      const int line = line_;
      std::vector<std::string> row;
      if (absl::Status status = ReadRow(row); !status.ok()) return status;
      if (!rows.empty() && row.size() != rows[0].size()) {
        return ErrorInLine(
            line, absl::StrCat("has ", row.size(), " cells, but the first row ",
                               "names ", rows[0].size(),
                               " columns; put cells with commas into quotes"));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  // Skips the end of a line, if that comes next.
  bool EndsLine() {
    if (!absl::ConsumePrefix(&rest_, "\r\n") &&
        !absl::ConsumePrefix(&rest_, "\n")) {
      return false;
    }
    ++line_;
    return true;
  }

  absl::Status ReadRow(std::vector<std::string>& row) {
    do {
      absl::Status status = rest_.substr(0, 1) == "\""
                                ? ReadQuoted(row.emplace_back())
                                : ReadPlain(row.emplace_back());
      if (!status.ok()) return status;
    } while (absl::ConsumePrefix(&rest_, ","));
    if (rest_.empty() || EndsLine()) return absl::OkStatus();
    return ErrorInLine(line_, "has text after the closing quote of a cell");
  }

  absl::Status ReadPlain(std::string& cell) {
    absl::string_view text = rest_.substr(0, rest_.find_first_of(",\n"));
    rest_.remove_prefix(text.size());
    // The carriage return belongs to the end of the line.
    if (rest_.substr(0, 1) != ",") absl::ConsumeSuffix(&text, "\r");
    cell = std::string(text);
    if (text.find('"') == absl::string_view::npos) return absl::OkStatus();
    return ErrorInLine(line_,
                       "has a quote inside of a cell; put the cell into "
                       "quotes and double the quote");
  }

  absl::Status ReadQuoted(std::string& cell) {
    const int first_line = line_;
    rest_.remove_prefix(1);
    for (;;) {
      const size_t quote = rest_.find('"');
      if (quote == absl::string_view::npos) {
        return ErrorInLine(first_line, "has a quote that is not closed");
      }
      for (const char byte : rest_.substr(0, quote)) line_ += byte == '\n';
      cell.append(rest_.data(), quote);
      rest_.remove_prefix(quote + 1);
      if (!absl::ConsumePrefix(&rest_, "\"")) return absl::OkStatus();
      cell += '"';
    }
  }

  absl::string_view rest_;
  int line_ = 1;
};

absl::Status CheckColumns(const CsvRows& rows) {
  if (rows.size() < 2) {
    return absl::InvalidArgumentError(
        "needs a line that names the columns, and at least one row below it");
  }
  std::set<std::string> seen;
  for (const std::string& column : rows[0]) {
    if (column.empty()) {
      return absl::InvalidArgumentError(
          "its first line has a column without a name; name every column");
    }
    if (!seen.insert(column).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two columns are called \"", column,
                       "\"; give them different names"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CsvRows> ParseCsvRows(absl::string_view text) {
  absl::StatusOr<CsvRows> rows = CsvReader(text).Read();
  if (!rows.ok()) return rows;
  absl::Status status = CheckColumns(*rows);
  if (!status.ok()) return status;
  return rows;
}

namespace {

void JudgeTimeParts(const DistributedSystemDescription& test,
                    report::FindingList& findings) {
  if (!test.measure_time_parts()) return;
  std::set<std::string> rpcs;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (rpc.has_external_call()) rpcs.insert(rpc.name());
  }
  if (rpcs.empty()) return;
  findings.Add(
      Finding::NOTE, "time_parts_external",
      absl::StrCat(absl::StrJoin(rpcs, ", "),
                   ": an external service runs nothing of distbench, so the "
                   "parts of time of its server cannot be known; the section "
                   "\"Time parts\" leaves these RPCs out"),
      "Look at the server's own metrics or traces for its part of the time.");
}

void JudgeVerification(const DistributedSystemDescription& test,
                       report::FindingList& findings) {
  for (const ServiceSpec& service : test.services()) {
    if (!service.external().tls().insecure_skip_verify()) continue;
    findings.Add(
        Finding::NOTE, "external_unverified",
        absl::StrCat(service.name(),
                     ": insecure_skip_verify: nobody knows that it was this "
                     "service that answered"),
        "Give ca_file and server_name instead.");
  }
}

void JudgeResponses(const TestResult& result, report::FindingList& findings) {
  const int64_t too_long = report::DriverCounter(result, kTooLongResponses);
  if (too_long == 0) return;
  findings.Add(
      Finding::WARN, "external_response_limit",
      absl::StrCat("RPCs that failed because a response was longer than "
                   "max_response of its service, warm-up included: ",
                   too_long),
      "If such responses are right, raise max_response of the external "
      "service.");
}

}  // namespace

void JudgeExternalCalls(const TestResult& result,
                        report::FindingList& findings) {
  JudgeTimeParts(result.traffic_config(), findings);
  JudgeVerification(result.traffic_config(), findings);
  JudgeResponses(result, findings);
}

}  // namespace distbench::external
