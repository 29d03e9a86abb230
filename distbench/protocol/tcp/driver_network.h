#ifndef DISTBENCH_PROTOCOL_TCP_DRIVER_NETWORK_H_
#define DISTBENCH_PROTOCOL_TCP_DRIVER_NETWORK_H_

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/network_settings.h"

namespace distbench::protocol {

// The network settings of a driver's connections, and what was read back from
// their sockets. Thread-safe.
class DriverNetwork {
 public:
  // Of clients are the connections that the driver makes, of servers those that
  // it accepts.
  enum class Side { kClient, kServer };

  DriverNetwork() = default;
  DriverNetwork(NetworkSettings client, NetworkSettings server)
      : client_(std::move(client)), server_(std::move(server)) {}

  const NetworkSettings& settings(Side side) const {
    return side == Side::kClient ? client_ : server_;
  }

  // Makes sure that this host's sockets of the address family can have the
  // settings. Data that is encrypted is copied, so zero_copy excludes TLS. The
  // error names side, setting, reason and remedy.
  absl::Status Check(int family, bool uses_tls) const;

  // Reads back and counts the settings of a new connection. The error says what
  // it lacks, so that it must not be used.
  absl::Status Admit(Side side, int fd);

  // What all connections had.
  std::vector<ConnectionReadings> Readings() const;

 private:
  void Count(Side side, const std::vector<NetworkReading>& settings);

  const NetworkSettings client_;
  const NetworkSettings server_;

  mutable absl::Mutex mutex_;
  // One entry for each side and combination of readings, of which there are
  // few.
  std::vector<ConnectionReadings> readings_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_DRIVER_NETWORK_H_
