// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/declaration.h"

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/libfabric/catalog.pb.h"
#include "optional_libraries.h"

namespace distbench::libfabric {
namespace {

// What an endpoint over sockets opens, in libfabric 1.17.
constexpr int64_t kFilesPerEndpoint = 10;

// Whether the provider is memory that processes share.
bool IsSharedMemory(const config::DriverOptions& options) {
  const auto* provider =
      config::FindSettingValue<std::string>(options.server_settings, kProvider);
  return provider != nullptr && absl::StrContains(*provider, "shm");
}

config::DriverFiles Files(const config::DriverOptions& options) {
  if (IsSharedMemory(options)) return {.has_connections = false};
  return {.per_worker = kFilesPerEndpoint};
}

}  // namespace

config::DriverDeclaration Declaration() {
  return {.name = "libfabric",
          .built_in = DISTBENCH_HAS_LIBFABRIC == 1,
          .package = "libfabric-dev",
          .files = &Files,
          .complete = &config::CompleteBy<catalog::Libfabric>};
}

}  // namespace distbench::libfabric
