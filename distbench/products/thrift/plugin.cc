// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include <memory>

#include "absl/status/statusor.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/products/thrift/catalog.pb.h"
#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/registry/registry.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "test_builder/protocols/protocol.h"

namespace distbench::thrift {
namespace {

const base::Plugin<base::Product> kProduct("thrift", new base::Product{
                                                         "The driver thrift"});

absl::StatusOr<std::unique_ptr<protocol::ProtocolDriver>> Make(
    const config::DriverOptions& options,
    const protocol::DriverEnvironment& environment) {
  return protocol::MakeStreamDriver<ThriftDriver>(
      protocol::ReadTcpSettings(options), /*protocol=*/"", options,
      environment);
}

const protocol::DriverPlugin kDriver(
    {.name = "thrift", .complete = &config::CompleteBy<catalog::Thrift>},
    {Make});

const base::Plugin<test_builder::ProtocolText> kProtocol(
    "thrift", new test_builder::ProtocolText{
                  R"pb(
                    name: "thrift"
                    summary: "Thrift's framed transport and binary protocol"
                    settings { name: "spin_us" word: "spin" only_server: true }
                    over_connections: true)pb"});

}  // namespace
}  // namespace distbench::thrift
