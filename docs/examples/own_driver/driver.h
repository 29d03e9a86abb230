// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs in messages with a prefix (message.h) over TCP connections, with or
// without TLS, or over Unix sockets.

#ifndef OWN_DRIVER_DRIVER_H_
#define OWN_DRIVER_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace own_driver {

class PrefixedDriver final : public distbench::protocol::StreamDriver {
 public:
  PrefixedDriver(const distbench::protocol::TcpSettings& settings,
                 distbench::protocol::AddressPreference preference,
                 std::string service_address,
                 distbench::protocol::ConnectionSecurity security)
      : StreamDriver(settings.connections, settings.uses_unix_socket,
                     std::move(preference), std::move(service_address),
                     std::move(security)),
        settings_(settings) {}

  std::vector<distbench::protocol::DriverCounter> Counters() const override {
    return counters_.List();
  }

 private:
  std::unique_ptr<distbench::protocol::SocketTransport> MakeTransport()
      override;

  const distbench::protocol::TcpSettings settings_;
  distbench::protocol::StreamCounters counters_;
};

}  // namespace own_driver

#endif  // OWN_DRIVER_DRIVER_H_
