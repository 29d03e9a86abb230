// RPCs of Cap'n Proto (traffic.capnp) over TCP connections, with or without
// TLS, or over Unix sockets. Cap'n Proto's messages, promises and RPC protocol
// are the library's; sockets and waiting are those of the tcp driver.

#ifndef DISTBENCH_PROTOCOL_CAPNP_CAPNP_DRIVER_H_
#define DISTBENCH_PROTOCOL_CAPNP_CAPNP_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/capnp/settings.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace distbench {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class CapnpDriver final : public StreamDriver {
 public:
  // For service_address, see DriverEnvironment.
  CapnpDriver(const CapnpSettings& settings, AddressPreference preference,
              std::string service_address, ConnectionSecurity security = {})
      : StreamDriver(settings.connections, settings.uses_unix_socket,
                     std::move(preference), std::move(service_address),
                     std::move(security)),
        settings_(settings) {}

  std::vector<DriverCounter> Counters() const override {
    return counters_.List();
  }

  // Thread-safe.
  const StreamCounters& counters() const { return counters_; }

 private:
  std::unique_ptr<SocketTransport> MakeTransport() override;

  const CapnpSettings settings_;
  StreamCounters counters_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_CAPNP_DRIVER_H_
