#include "distbench/protocol/tcp/driver_network.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace distbench::protocol {
namespace {

absl::Status CheckSide(const NetworkSettings& settings, absl::string_view side,
                       int family, bool uses_tls) {
  if (settings.zero_copy && uses_tls) {
    return absl::FailedPreconditionError(
        absl::StrCat(side,
                     "_settings: zero_copy has no effect with TLS, which "
                     "copies what it encrypts; remove the setting, or start "
                     "all nodes without TLS"));
  }
  const absl::Status status = TryNetworkSettings(settings, family);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(side, "_settings: ", status.message()));
}

}  // namespace

absl::Status DriverNetwork::Check(int family, bool uses_tls) const {
  absl::Status client = CheckSide(client_, "client", family, uses_tls);
  return client.ok() ? CheckSide(server_, "server", family, uses_tls) : client;
}

absl::Status DriverNetwork::Admit(Side side, int fd) {
  const std::vector<NetworkReading> found = ReadBack(settings(side), fd);
  if (found.empty()) return absl::OkStatus();
  for (const NetworkReading& reading : found) {
    if (reading.is_as_asked || reading.name != config::kEcn) continue;
    return absl::FailedPreconditionError(
        "ECN was not negotiated, which the setting ecn requires; set "
        "net.ipv4.tcp_ecn to 1 on this host and to 1 or 2 on the peer's, or "
        "remove the setting");
  }
  Count(side, found);
  return absl::OkStatus();
}

void DriverNetwork::Count(Side side,
                          const std::vector<NetworkReading>& settings) {
  const bool accepted = side == Side::kServer;
  const absl::MutexLock lock(&mutex_);
  for (ConnectionReadings& known : readings_) {
    if (known.accepted != accepted || known.settings != settings) continue;
    ++known.connection_count;
    return;
  }
  readings_.push_back({accepted, 1, settings});
}

std::vector<ConnectionReadings> DriverNetwork::Readings() const {
  const absl::MutexLock lock(&mutex_);
  return readings_;
}

}  // namespace distbench::protocol
