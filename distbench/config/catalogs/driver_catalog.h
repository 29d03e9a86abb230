// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The catalog of protocol drivers: which ones configs may name, and their
// settings. Validation, documentation and help texts are generated from it.
// They are data (proto/catalogs.proto, and a catalog.proto of each product that
// has drivers). A product adds a driver with
// base::Plugin<config::DriverDeclaration> (or with protocol::DriverPlugin,
// protocol/registry/registry.h).

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"
#include "google/protobuf/descriptor.h"

namespace distbench::config {

// The setting of multi-server channels that selects the load-balancing policy.
inline constexpr char kChannelPolicySetting[] = "policy";

// What a worker of an instance opens.
struct DriverFiles {
  // Besides connections, and what workers of all drivers open.
  int64_t per_worker = 0;

  // Whether each worker connects to each peer with a socket, or several.
  bool has_connections = true;
};

struct DriverDeclaration {
  std::string name;

  // Describes the driver, in full sentences for users.
  std::string description = {};

  // False for a driver that is not part of this build. It is listed so that the
  // error message can say so.
  bool built_in = true;

  // The Debian package without which the driver is left out of the build. Empty
  // if there is none.
  std::string package = {};

  // Instances can only reach instances in the same process.
  bool stays_in_process = false;

  // RPCs may stream (protocol/streams.h), between a client and a server whose
  // string settings have these values, by name.
  bool streams = false;
  std::map<std::string, std::string> streaming_client_settings = {};
  std::map<std::string, std::string> streaming_server_settings = {};

  // One call in flight can be given up (Transport::Cancel), and a server can
  // break its clients' connections (Transport::BreakConnections). Of a
  // decorator: it leaves that to the driver that it decorates.
  bool cancels_calls = false;
  bool breaks_connections = false;

  // Clients can take time stamps of the wire, over TCP (ClientCall::wire_ns in
  // protocol/driver.h). Of a decorator, as above.
  bool stamps_wire = false;

  SettingsDeclaration client_settings = {};
  SettingsDeclaration server_settings = {};

  // Settings of multi-server channels. If empty, the driver does not support
  // them.
  SettingsDeclaration channel_settings = {};

  // What its workers open with these options, if that is not DriverFiles().
  DriverFiles (*files)(const DriverOptions& options) = nullptr;

  // The driver for which this is another name, with different defaults. Empty
  // if it is not an alias.
  std::string alias_of = {};

  // The server setting that names the decorated driver, or its options. Empty
  // if this driver decorates none.
  std::string decorated_driver_setting = {};

  // Of products: adds what is data, when the catalog is made. Data is not there
  // yet while the declarations of products are initialised.
  void (*complete)(DriverDeclaration& driver) = nullptr;
};

// Replaces all but the name, built_in, package and files by what the type says,
// a message of a catalog.proto with the option `driver`.
void CompleteByData(const google::protobuf::Descriptor& type,
                    DriverDeclaration& driver);

// The same as DriverDeclaration::complete.
template <typename Message>
void CompleteBy(DriverDeclaration& driver) {
  CompleteByData(*Message::descriptor(), driver);
}

// A start for the declaration of a driver that is not data, such as one of
// somebody's own: over TCP connections that distbench makes, with settings of
// its own. The catalog adds those that all such drivers have, of their sockets
// too.
DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server);

// All drivers, in the order in which the documentation lists them. What they
// refuse (SettingsDeclaration::refused) says which drivers do not.
absl::Span<const DriverDeclaration> DriverCatalog();

// Returns null if there is no such driver.
const DriverDeclaration* FindDriver(absl::string_view name);

// Names of the built-in drivers of which this is true.
std::vector<std::string> BuiltInDriverNames(
    bool DriverDeclaration::*is = &DriverDeclaration::built_in);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_
