// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/driver_catalog.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/named.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/suggest.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "proto/catalogs.pb.h"

namespace distbench::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;

// ---- From the data ----------------------------------------------------------

// With those of the messages in it.
catalog::SideOptions OptionsOfSide(const Descriptor& type) {
  catalog::SideOptions options = type.options().GetExtension(catalog::side);
  for (int i = 0; i < type.field_count(); ++i) {
    const Descriptor* const within = type.field(i)->message_type();
    if (within != nullptr) options.MergeFrom(OptionsOfSide(*within));
  }
  return options;
}

SettingsDeclaration SideOf(const Descriptor& driver, const char* side) {
  const FieldDescriptor* const field = driver.FindFieldByName(side);
  if (field == nullptr) return {};
  const Descriptor& type = *field->message_type();
  const catalog::SideOptions options = OptionsOfSide(type);
  SettingsDeclaration declaration = {
      .settings = SettingsOf(type),
      .pass_through_prefix = options.pass_through_prefix()};
  for (const auto& maximum : options.pass_through_maximum()) {
    declaration.pass_through_maxima[maximum.setting()] = maximum.at_most();
  }
  for (const auto& refusal : options.refused()) {
    const auto refused = SettingsOf(
        *catalog::SideOptions::descriptor()->file()->FindMessageTypeByName(
            refusal.settings()));
    for (const SettingDeclaration& setting : refused) {
      declaration.refused[setting.name] = refusal.why();
    }
  }
  return declaration;
}

using Values =
    google::protobuf::RepeatedPtrField<catalog::SettingOptions::Value>;

std::map<std::string, std::string> MapOf(const Values& values) {
  std::map<std::string, std::string> map;
  for (const auto& value : values) map[value.setting()] = value.value();
  return map;
}

void SetDefaults(const Values& defaults, SettingsDeclaration& side) {
  for (const auto& [name, value] : MapOf(defaults)) {
    for (SettingDeclaration& setting : side.settings) {
      if (setting.name == name) setting.default_value = value;
    }
  }
}

DriverFiles NoConnections(const DriverOptions&) {
  return {.has_connections = false};
}

DriverDeclaration DriverOf(const Descriptor& type) {
  const catalog::DriverOptions& options =
      type.options().GetExtension(catalog::driver);
  DriverDeclaration driver = {
      .name = options.name(),
      .description = options.about(),
      .built_in = !options.not_built_in(),
      .stays_in_process = options.stays_in_process(),
      .streams = options.streams(),
      .streaming_client_settings = MapOf(options.streaming_client_settings()),
      .streaming_server_settings = MapOf(options.streaming_server_settings()),
      .cancels_calls = options.cancels_calls(),
      .breaks_connections = options.breaks_connections(),
      .stamps_wire = options.stamps_wire(),
      .client_settings = SideOf(type, "client"),
      .server_settings = SideOf(type, "server"),
      .channel_settings = SideOf(type, "channel"),
      .files = options.stays_in_process() ? NoConnections : nullptr,
      .alias_of = options.alias_of(),
      .decorated_driver_setting = options.decorated_driver_setting()};
  SetDefaults(options.default_(), driver.client_settings);
  SetDefaults(options.default_(), driver.server_settings);
  return driver;
}

// The driver and those of products, by name.
std::vector<DriverDeclaration> WithOthers(DriverDeclaration driver) {
  std::map<std::string, DriverDeclaration> by_name;
  by_name.emplace(driver.name, std::move(driver));
  for (const auto& [name, other] : base::Plugins<DriverDeclaration>::All()) {
    by_name.emplace(name, *other);
  }
  std::vector<DriverDeclaration> drivers;
  for (auto& [name, each] : by_name) {
    if (each.complete != nullptr) each.complete(each);
    drivers.push_back(std::move(each));
  }
  return drivers;
}

// ---- Drivers over connections that are not data -----------------------------

using Settings = std::vector<SettingDeclaration>;

// The settings of a message of proto/catalogs.proto.
template <typename Message>
Settings Of() {
  return SettingsOf(*Message::descriptor());
}

Settings Joined(Settings settings, const Settings& own,
                const Settings& network) {
  settings.insert(settings.end(), own.begin(), own.end());
  settings.insert(settings.end(), network.begin(), network.end());
  return settings;
}

// The settings of the socket of a side come last.
void AddConnections(DriverDeclaration& driver) {
  Settings& of_client = driver.client_settings.settings;
  of_client = Joined(Of<catalog::Connections>(), of_client,
                     Of<catalog::ClientSockets>());
  Settings& of_server = driver.server_settings.settings;
  of_server =
      Joined(Of<catalog::Listener>(), of_server, Of<catalog::Sockets>());
  driver.channel_settings = {.settings = Of<catalog::Channel>()};
}

// ---- What drivers refuse ----------------------------------------------------

// Returns `"a", "b" or "c"`: the drivers with that setting on one of their
// sides.
std::string DriversWith(const std::string& setting,
                        const std::vector<DriverDeclaration>& catalog) {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : catalog) {
    const bool has_it =
        FindSetting(driver.client_settings, setting) != nullptr ||
        FindSetting(driver.server_settings, setting) != nullptr;
    if (has_it && driver.alias_of.empty()) names.push_back(Quoted(driver.name));
  }
  if (names.size() < 2) return absl::StrJoin(names, "");
  const std::string last = std::move(names.back());
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " or ", last);
}

// Adds to the reasons of what a driver refuses which drivers do not.
void AddDriversToUse(const std::vector<DriverDeclaration>& catalog,
                     std::map<std::string, std::string>& refused) {
  for (auto& [setting, reason] : refused) {
    const std::string drivers = DriversWith(setting, catalog);
    if (!drivers.empty()) {
      absl::StrAppend(&reason, "; use the driver ", drivers);
    }
  }
}

// ---- The catalog ------------------------------------------------------------

std::vector<DriverDeclaration> MakeCatalog() {
  const auto& file = *catalog::DriverOptions::descriptor()->file();
  std::vector<DriverDeclaration> drivers;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const Descriptor& type = *file.message_type(i);
    if (!type.options().HasExtension(catalog::driver)) continue;
    DriverDeclaration driver = DriverOf(type);
    if (driver.name == "tcp") {
      absl::c_move(WithOthers(std::move(driver)), std::back_inserter(drivers));
    } else {
      drivers.push_back(std::move(driver));
    }
  }
  for (DriverDeclaration& driver : drivers) {
    AddDriversToUse(drivers, driver.client_settings.refused);
    AddDriversToUse(drivers, driver.server_settings.refused);
  }
  return drivers;
}

}  // namespace

void CompleteByData(const Descriptor& type, DriverDeclaration& driver) {
  DriverDeclaration data = DriverOf(type);
  CHECK_EQ(data.name, driver.name);
  data.built_in = driver.built_in;
  data.package = driver.package;
  if (driver.files != nullptr) data.files = driver.files;
  driver = std::move(data);
}

DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server) {
  return {.name = name,
          .description = description,
          .cancels_calls = true,
          .breaks_connections = true,
          .stamps_wire = true,
          .client_settings = {.settings = of_client},
          .server_settings = {.settings = of_server},
          .complete = &AddConnections};
}

absl::Span<const DriverDeclaration> DriverCatalog() {
  static const auto* const catalog =
      new std::vector<DriverDeclaration>(MakeCatalog());
  return *catalog;
}

const DriverDeclaration* FindDriver(absl::string_view name) {
  return base::FindNamed(DriverCatalog(), name);
}

std::vector<std::string> BuiltInDriverNames(bool DriverDeclaration::*is) {
  std::vector<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.built_in && driver.*is) names.push_back(driver.name);
  }
  return names;
}

}  // namespace distbench::config
