// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs in Thrift's framed transport and strict binary protocol
// (traffic.thrift), with or without TLS, or over Unix sockets. Each side also
// works with Apache Thrift on the other.

#ifndef DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_
#define DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_

#include <memory>
#include <string>
#include <vector>

#include "distbench/products/thrift/thrift_connection.h"
#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace distbench::thrift {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class ThriftDriver final : public protocol::StreamDriver {
 public:
  // Ignores the settings of batches. For service_address, see
  // DriverEnvironment.
  ThriftDriver(const protocol::TcpSettings& settings,
               protocol::AddressPreference preference,
               std::string service_address,
               protocol::ConnectionSecurity security = {});

  std::vector<protocol::DriverCounter> Counters() const override {
    return counters_.List();
  }

 private:
  std::unique_ptr<protocol::SocketTransport> MakeTransport() override;

  const protocol::TcpSettings settings_;
  ThriftCounters counters_;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_
