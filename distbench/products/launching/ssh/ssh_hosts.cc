// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_hosts.h"

#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/base/host_port.h"

namespace distbench::launching {
namespace {

constexpr int kNoPort = 0;
constexpr char kForm[] = "[USER@]HOST[:PORT]";

// Whether the text could be a host or a user, and is no flag of ssh and no
// path of a log.
bool IsName(absl::string_view text, absl::string_view more_characters) {
  if (text.empty() || text.front() == '-' || text.front() == '.') return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("._-", c) &&
        !absl::StrContains(more_characters, c)) {
      return false;
    }
  }
  return true;
}

// Parses "HOST", "HOST:PORT", "ADDRESS", "[ADDRESS]" or "[ADDRESS]:PORT" into
// `host`. Returns what is wrong.
std::optional<std::string> ParseHostAndPort(absl::string_view text,
                                            SshHost& host) {
  const bool has_brackets = absl::StartsWith(text, "[");
  const size_t colon = text.rfind(':');
  const size_t end_of_brackets = text.rfind(']');
  const bool is_plain_address =
      !has_brackets && colon != text.find(':');  // of IPv6
  const bool has_port = colon != absl::string_view::npos && !is_plain_address &&
                        (!has_brackets || end_of_brackets < colon);
  if (has_port) {
    const absl::string_view port = text.substr(colon + 1);
    if (!absl::SimpleAtoi(port, &host.port) || host.port < 1 ||
        host.port > base::kMaxPort) {
      return absl::StrCat("\"", port, "\" is not a port: 1 to ",
                          base::kMaxPort);
    }
    text = text.substr(0, colon);
  }
  host.host = std::string(base::WithoutBrackets(text));
  if (IsName(host.host, has_brackets || is_plain_address ? ":%" : "")) {
    return std::nullopt;
  }
  return absl::StrCat("\"", text, "\" is not the name or address of a host");
}

// Parses "[USER@]HOST[:PORT]".
std::optional<std::string> ParseDestination(absl::string_view text,
                                            SshHost& host) {
  const size_t at = text.rfind('@');
  if (at == absl::string_view::npos) return ParseHostAndPort(text, host);
  host.user = std::string(text.substr(0, at));
  if (!IsName(host.user, "")) {
    return absl::StrCat("\"", host.user, "\" is not the name of a user");
  }
  return ParseHostAndPort(text.substr(at + 1), host);
}

// Collects hosts, and what is wrong about them.
class HostCollector {
 public:
  // `words` are a destination and attributes; `place` names them in errors.
  void Add(const std::vector<std::string>& words, const std::string& place) {
    SshHost host;
    std::optional<std::string> problem = ParseDestination(words[0], host);
    for (size_t i = 1; i < words.size() && !problem; ++i) {
      if (words[i].find('=') + 1 < 2) {  // none, or at the beginning
        problem =
            absl::StrCat("\"", words[i], "\" is not an attribute: NAME=VALUE");
      }
      host.attributes.push_back(words[i]);
    }
    if (!problem) problem = Repeated(host, place);
    if (problem) {
      problems_.push_back(absl::StrCat(place, ": ", *problem));
    } else {
      hosts_.push_back(std::move(host));
    }
  }

  // `source` is where hosts were looked for.
  absl::StatusOr<std::vector<SshHost>> Finish(absl::string_view source) && {
    if (!problems_.empty()) {
      return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
    }
    if (hosts_.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ": no hosts; each has the form ", kForm));
    }
    return std::move(hosts_);
  }

 private:
  std::optional<std::string> Repeated(const SshHost& host,
                                      const std::string& place) {
    auto& places = places_[absl::AsciiStrToLower(host.host)];
    auto same = places.find(host.port);
    if (same == places.end()) same = places.find(kNoPort);
    if (same == places.end() && host.port == kNoPort) same = places.begin();
    if (same == places.end()) {
      places.emplace(host.port, place);
      return std::nullopt;
    }
    return absl::StrCat(host.host, " is already in ", same->second,
                        "; a host can be one node of a job, and two hosts of "
                        "one name need two ports");
  }

  std::vector<SshHost> hosts_;
  // By the hosts' names, in lower case, and their ports.
  std::map<std::string, std::map<int, std::string>> places_;
  std::vector<std::string> problems_;
};

absl::string_view WithoutComment(absl::string_view line) {
  return line.substr(0, line.find('#'));
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) &&
         !std::filesystem::is_directory(path, error);
}

}  // namespace

std::string DescribeHost(const SshHost& host) {
  return host.port == kNoPort ? host.host
                              : base::JoinHostPort(host.host, host.port);
}

absl::StatusOr<std::vector<SshHost>> ParseHostsFile(absl::string_view text,
                                                    absl::string_view name) {
  HostCollector collector;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::vector<std::string> words = absl::StrSplit(
        WithoutComment(line), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    collector.Add(words, absl::StrCat(name, ":", line_number));
  }
  return std::move(collector).Finish(name);
}

absl::StatusOr<std::vector<SshHost>> ParseHostList(absl::string_view list) {
  HostCollector collector;
  int number = 0;
  for (const absl::string_view word : absl::StrSplit(list, ',')) {
    ++number;
    const absl::string_view destination = absl::StripAsciiWhitespace(word);
    collector.Add({std::string(destination)},
                  absl::StrCat("--hosts, host ", number));
  }
  return std::move(collector).Finish("--hosts");
}

absl::StatusOr<std::vector<SshHost>> ReadHosts(const std::string& hosts) {
  if (absl::StrContains(hosts, ',')) return ParseHostList(hosts);
  if (!absl::StrContains(hosts, '/') && !IsFile(hosts)) {
    return ParseHostList(hosts);
  }
  const absl::StatusOr<std::string> text = base::ReadFile(hosts);
  if (!text.ok()) return text.status();
  return ParseHostsFile(*text, hosts);
}

absl::StatusOr<SshHost> ParseHostOfFlag(absl::string_view flag,
                                        absl::string_view text) {
  SshHost host;
  const std::optional<std::string> problem = ParseHostAndPort(text, host);
  if (!problem) return host;
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", *problem));
}

bool IsLoopbackHost(absl::string_view host) {
  return absl::EqualsIgnoreCase(host, "localhost") || host == "::1" ||
         (absl::StartsWith(host, "127.") &&
          host.find_first_not_of("0123456789.") == absl::string_view::npos);
}

}  // namespace distbench::launching
