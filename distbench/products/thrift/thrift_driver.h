// RPCs in Thrift's framed transport and strict binary protocol
// (traffic.thrift), with or without TLS, or over Unix sockets. Each side also
// works with Apache Thrift on the other.

#ifndef DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_
#define DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_

#include <memory>
#include <string>
#include <vector>

#include "distbench/products/thrift/thrift_connection.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace distbench {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class ThriftDriver final : public StreamDriver {
 public:
  // Ignores the settings of batches. For service_address, see
  // DriverEnvironment.
  ThriftDriver(const TcpSettings& settings, AddressPreference preference,
               std::string service_address, ConnectionSecurity security = {});

  std::vector<DriverCounter> Counters() const override {
    return counters_.List();
  }

 private:
  std::unique_ptr<SocketTransport> MakeTransport() override;

  const TcpSettings settings_;
  ThriftCounters counters_;
};

}  // namespace distbench

#endif  // DISTBENCH_PRODUCTS_THRIFT_THRIFT_DRIVER_H_
