// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program. The driver itself is left out of
// builds without libfabric.

#include <memory>
#include <utility>

#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/requirements/host_requirements.h"
#include "distbench/node/host_facts.h"
#include "distbench/products/libfabric/declaration.h"
#include "distbench/products/libfabric/host_providers.h"
#include "optional_libraries.h"
#include "test_builder/protocols/protocol.h"

#if DISTBENCH_HAS_LIBFABRIC
#include "absl/status/statusor.h"
#include "distbench/products/libfabric/libfabric_driver.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/protocol/registry/registry.h"
#endif

namespace distbench::libfabric {
namespace {

const base::Plugin<base::Product> kProduct("libfabric",
                                           new base::Product{
                                               "The driver libfabric"});

#if DISTBENCH_HAS_LIBFABRIC
absl::StatusOr<std::unique_ptr<protocol::ProtocolDriver>> Make(
    const config::DriverOptions& options,
    const protocol::DriverEnvironment& environment) {
  LibfabricSettings settings = ReadLibfabricSettings(options);
  settings.measures_time_parts = environment.measures_time_parts;
  return std::make_unique<LibfabricDriver>(
      std::move(settings),
      protocol::AddressPreference{.netdev = options.netdev,
                                  .ip_version = options.ip_version,
                                  .listen_address = environment.listen_address},
      environment.service_address, environment.test_nonce,
      /*tls_is_wanted=*/environment.tls != nullptr);
}

const protocol::DriverPlugin kDriver(Declaration(), {Make});
#else
const base::Plugin<config::DriverDeclaration> kDeclaration(
    "libfabric", new config::DriverDeclaration(Declaration()));
#endif

const base::Plugin<cli::Command> kCommand(kProvidersSubcommand,
                                          new cli::Command{
                                              cli::HelpSection::kHidden,
                                              AddProvidersCommand});

const base::Plugin<node::LastingFacts> kFacts("libfabric",
                                              new node::LastingFacts{
                                                  FindProviders});

const base::Plugin<config::HostFact> kFact(
    "libfabric_providers",
    new config::HostFact{.declaration = {.name = "libfabric_providers",
                                         .description = {},
                                         .default_value = ""},
                         .value = ProvidersOf,
                         .rule = config::HostFact::Rule::kIncludes});

const base::Plugin<test_builder::ProtocolText> kProtocol(
    "libfabric",
    new test_builder::ProtocolText{
        R"pb(
          name: "libfabric"
          summary: "messages over libfabric's reliable datagrams"
          settings {
            name: "provider"
            declared { type: TEXT }
          }
          settings { name: "endpoint" }
          settings { name: "receive_buffers" }
          settings { name: "receive_buffer_bytes" }
          settings { name: "spin_us" word: "spin" only_server: true })pb"});

}  // namespace
}  // namespace distbench::libfabric
