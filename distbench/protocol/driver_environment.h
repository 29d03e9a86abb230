// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
#define DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "distbench/config/plan/driver_options.h"
#include "distbench/security/credentials.h"

namespace distbench::protocol {

// A node's information for a driver that it makes.
struct DriverEnvironment {
  // Address at which peers reach this host. If empty, it is chosen by the
  // options' netdev and ip_version, or else is the host's best address.
  std::string service_address = {};

  // The only address to listen on. If empty, service_address determines it.
  std::string listen_address = {};

  // The test's nonce: no traffic goes to an address whose driver does not know
  // it. Empty in tests without a sequencer.
  std::string test_nonce = {};

  // TLS credentials for connections; null means no TLS.
  std::shared_ptr<const security::TlsCredentials> tls = {};

  // Whether the host has a CPU for each worker of the instance and some to
  // spare. Then an idle worker can poll without keeping anything from running.
  bool has_spare_cpu = false;

  // By RPC index: whether requests of that RPC are answered at once, without
  // running anything. Drivers with a thread per request need no thread for
  // them. RPCs beyond the end are not answered at once.
  std::vector<bool> immediate_rpcs = {};

  // Whether servers report how long requests waited and how long their handlers
  // took; the same for all drivers of a test. See ClientCall.
  bool measures_time_parts = false;

  // Which calls clients take time stamps of the wire for. See ClientCall.
  config::WireTimeOptions wire_time = {};
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DRIVER_ENVIRONMENT_H_
