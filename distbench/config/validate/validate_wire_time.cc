// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// The clients of RPCs, and their servers, without those outside of the test,
// whose calls have no time stamps.
struct Ends {
  explicit Ends(const DistributedSystemDescription& test) {
    for (const RpcSpec& rpc : test.rpc_descriptions()) {
      if (CallsOutside(rpc)) continue;
      clients.insert(rpc.client().begin(), rpc.client().end());
      servers.insert(rpc.server());
    }
    for (const RpcReplayTrace& trace : test.rpc_replay_traces()) {
      clients.insert(trace.client());
      servers.insert(trace.server());
    }
  }

  std::set<std::string> clients;
  std::set<std::string> servers;
};

}  // namespace

void ValidateWireTime(const TestValidation& validation) {
  if (!validation.test().has_measure_wire_time()) return;
  const Path path = validation.path().Field("measure_wire_time");
  const Ends ends(validation.test());
  for (const std::string& client : ends.clients) {
    for (const ResolvedDriver& level : validation.DriversOf(client)) {
      if (level.driver->stamps_wire) continue;
      validation.Add(
          path, "driver ", Quoted(level.driver->name), " of service ",
          Quoted(client),
          " takes no time stamps of the wire; drivers that do: ",
          QuotedList(BuiltInDriverNames(&DriverDeclaration::stamps_wire)));
      break;
    }
  }
  for (const std::string& server : ends.servers) {
    for (const ResolvedDriver& level : validation.DriversOf(server)) {
      if (StringSetting(level.options->server_settings(),
                        level.driver->server_settings,
                        kTransportSetting) != kUnixTransport) {
        continue;
      }
      validation.Add(path, "service ", Quoted(server),
                     " is reached over Unix sockets, which have no time "
                     "stamps; set its server setting \"transport\" to "
                     "\"tcp\", or remove measure_wire_time");
    }
  }
}

}  // namespace distbench::config
