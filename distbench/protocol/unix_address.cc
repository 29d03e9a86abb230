#include "distbench/protocol/unix_address.h"

#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/security/nonce.h"

namespace distbench::protocol {
namespace {

constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";
constexpr char kNetworkNamespace[] = "/proc/self/ns/net";
constexpr size_t kRandomBytes = 8;

// Returns what all addresses of this host begin with: its names of abstract
// sockets end with its boot and its network namespace.
absl::StatusOr<std::string> HostPrefix() {
  std::string boot;
  std::getline(std::ifstream(kBootId), boot);
  struct stat network = {};
  if (boot.empty() || stat(kNetworkNamespace, &network) != 0) {
    return absl::UnavailableError(absl::StrCat(
        "cannot identify this host by ", kBootId, " and ", kNetworkNamespace,
        ", as transport \"unix\" needs; mount /proc, or use transport "
        "\"tcp\""));
  }
  return absl::StrCat(kUnixScheme, "distbench-", boot, "-", network.st_ino,
                      "-");
}

}  // namespace

bool IsUnixAddress(absl::string_view address) {
  return absl::StartsWith(address, kUnixScheme);
}

absl::StatusOr<std::string> NewUnixAddress(bool uses_tls) {
  if (uses_tls) {
    return absl::FailedPreconditionError(
        "transport \"unix\" has no TLS, and this node uses TLS for its "
        "traffic; use transport \"tcp\", or start the nodes without --tls_ca, "
        "--tls_cert and --tls_key");
  }
  absl::StatusOr<std::string> prefix = HostPrefix();
  if (!prefix.ok()) return prefix.status();
  return absl::StrCat(
      *prefix,
      absl::BytesToHexString(security::DrawNonce().substr(0, kRandomBytes)));
}

absl::Status CheckIsOfThisHost(absl::string_view unix_address) {
  const absl::StatusOr<std::string> prefix = HostPrefix();
  if (!prefix.ok()) return prefix.status();
  if (absl::StartsWith(unix_address, *prefix)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "peer ", unix_address,
      " is on another host or in another network namespace, where transport "
      "\"unix\" does not reach; place both instances on one node, or use "
      "transport \"tcp\""));
}

}  // namespace distbench::protocol
