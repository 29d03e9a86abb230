#include "distbench/protocol/driver_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/protocol/unix_address.h"

namespace distbench::protocol {
namespace {

constexpr absl::string_view kTlsPrefix = "tls:";

}  // namespace

void FailureList::Add(std::string failure) {
  if (absl::c_linear_search(failures_, failure)) return;
  failures_.push_back(std::move(failure));
}

std::string FailureList::ToString() const {
  constexpr size_t kMaxNamed = 3;
  const size_t named = std::min(failures_.size(), kMaxNamed);
  const std::string names =
      absl::StrJoin(failures_.begin(), failures_.begin() + named, ", ");
  if (named == failures_.size()) return names;
  return absl::StrCat(names, " and ", failures_.size() - named, " more");
}

std::string AnnounceTls(std::string address, bool uses_tls) {
  return uses_tls ? absl::StrCat(kTlsPrefix, address) : address;
}

absl::StatusOr<std::vector<Peer>> PeersToDial(std::vector<Peer> peers,
                                              bool uses_tls) {
  for (Peer& peer : peers) {
    for (std::string& address : peer.addresses) {
      const bool peer_uses_tls = absl::StartsWith(address, kTlsPrefix);
      if (peer_uses_tls != uses_tls) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the node of peer ", address,
            peer_uses_tls ? " uses TLS for its traffic, and this node does not"
                          : " does not use TLS for its traffic, as this node "
                            "does",
            "; start all nodes with --tls_ca, --tls_cert and --tls_key, or "
            "none"));
      }
      if (uses_tls) address.erase(0, kTlsPrefix.size());
      if (!IsUnixAddress(address)) continue;
      absl::Status here = CheckIsOfThisHost(address);
      if (!here.ok()) return here;
    }
  }
  return peers;
}

}  // namespace distbench::protocol
