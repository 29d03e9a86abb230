// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The hosts that users name for `distbench launch`.

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_HOSTS_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_HOSTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::launching {

struct SshHost {
  std::string user;  // empty: as ssh decides
  std::string host;  // a name or an address, without brackets
  int port = 0;      // 0: as ssh decides
  std::vector<std::string> attributes = {};  // each is "NAME=VALUE"
};

// "HOST", or "HOST:PORT" if the user named a port. No two hosts of a job are
// called the same.
std::string DescribeHost(const SshHost& host);

// Parses a file with a host a line: "[USER@]HOST[:PORT] [NAME=VALUE ...]". An
// IPv6 address stands in brackets. "#" begins a comment. `name` names the file
// in the error, which lists every wrong line; a host that is there twice is
// wrong, too. Two ports of one name may lead to two hosts; no port may be any.
absl::StatusOr<std::vector<SshHost>> ParseHostsFile(absl::string_view text,
                                                    absl::string_view name);

// Parses "[USER@]HOST[:PORT],...".
absl::StatusOr<std::vector<SshHost>> ParseHostList(absl::string_view list);

// Reads the value of --hosts: a list, or the name of a file. What has neither
// commas nor a file of its name is a list of one host.
absl::StatusOr<std::vector<SshHost>> ReadHosts(const std::string& hosts);

// Parses "HOST[:PORT]" of a flag, which the error names.
absl::StatusOr<SshHost> ParseHostOfFlag(absl::string_view flag,
                                        absl::string_view text);

// Whether the name or address means this host on every host, as localhost does.
bool IsLoopbackHost(absl::string_view host);

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_SSH_SSH_HOSTS_H_
