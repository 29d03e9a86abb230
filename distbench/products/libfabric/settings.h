// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The libfabric driver's settings in a traffic config.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_SETTINGS_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_SETTINGS_H_

#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <string>

#include "distbench/config/plan/driver_options.h"

namespace distbench::libfabric {

struct LibfabricSettings {
  // The name of a provider, with its utility layers if they are to be chosen,
  // such as "tcp" or "tcp;ofi_rxm".
  std::string provider;

  // Whether endpoints are connected (FI_EP_MSG), or of datagrams (FI_EP_RDM).
  bool is_connected;

  // Buffers of a worker for messages that arrive, and the size of each, which
  // peers' messages do not exceed.
  int64_t receive_buffers;
  int64_t receive_buffer_bytes;

  // Bytes of requests that may wait for a link before it accepts no more.
  int64_t send_queue_bytes;

  // How long a worker polls before it sleeps.
  int64_t spin_ns;

  // Time limit for a peer to answer a hello, or a sign of life.
  int64_t answer_timeout_ns = 5'000'000'000;

  // See DriverEnvironment; not a setting of the traffic config.
  bool measures_time_parts = false;

  fi_ep_type endpoint_type() const {
    return is_connected ? FI_EP_MSG : FI_EP_RDM;
  }

  // What peers must have in common: the provider, and "/msg" if endpoints are
  // connected.
  std::string carrier() const {
    return provider + (is_connected ? "/msg" : "");
  }
};

// Missing settings take their defaults (declaration.h,
// config/plan/driver_options.h).
LibfabricSettings ReadLibfabricSettings(const config::DriverOptions& options);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_SETTINGS_H_
