#include "distbench/config/driver_resolution.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/suggest.h"

namespace distbench {
namespace {

absl::Status NoSuchProtocol(const TestNames& names, const std::string& name) {
  std::vector<std::string> known = BuiltInDriverNames();
  const auto& options = names.driver_options.names();
  known.insert(known.end(), options.begin(), options.end());
  return absl::NotFoundError(absl::StrCat("no driver and no options are named ",
                                          Quoted(name), "; ",
                                          Suggestion(name, known)));
}

absl::Status TooDeep(absl::string_view what, const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "more than ", kMaxDriverDepth, " ", what, " follow one another, up to ",
      Quoted(name), "; name a driver earlier"));
}

const std::string& ProtocolOf(const DistributedSystemDescription& test,
                              const ProtocolDriverOptions& options) {
  return options.protocol_name().empty() ? test.default_protocol()
                                         : options.protocol_name();
}

DriverOptions OptionsOfLevel(const ResolvedDriver& level) {
  const DriverDeclaration& driver = *level.driver;
  const ProtocolDriverOptions& options = *level.options;
  DriverOptions made;
  made.driver = driver.alias_of.empty() ? driver.name : driver.alias_of;
  made.netdev = options.netdev_name();
  made.ip_version = options.ip_version();
  made.client_settings =
      ResolveSettings(options.client_settings(), driver.client_settings);
  made.server_settings =
      ResolveSettings(options.server_settings(), driver.server_settings);
  return made;
}

}  // namespace

absl::StatusOr<ResolvedDriver> ResolveDriver(
    const DistributedSystemDescription& test, const TestNames& names,
    const ProtocolDriverOptions& options) {
  const ProtocolDriverOptions* current = &options;
  for (int depth = 0; depth <= kMaxDriverDepth; ++depth) {
    const std::string& protocol = ProtocolOf(test, *current);
    if (const DriverDeclaration* driver = FindDriver(protocol)) {
      return ResolvedDriver{driver, current};
    }
    const int next = names.driver_options.Find(protocol);
    if (next == kNone) return NoSuchProtocol(names, protocol);
    current = &test.protocol_driver_options(next);
  }
  return TooDeep("protocol_driver_options", ProtocolOf(test, *current));
}

absl::StatusOr<ResolvedDriver> ResolveProtocol(
    const DistributedSystemDescription& test, const TestNames& names,
    const std::string& protocol_name) {
  if (const DriverDeclaration* driver = FindDriver(protocol_name)) {
    return ResolvedDriver{driver, &ProtocolDriverOptions::default_instance()};
  }
  const int next = names.driver_options.Find(protocol_name);
  if (next == kNone) return NoSuchProtocol(names, protocol_name);
  return ResolveDriver(test, names, test.protocol_driver_options(next));
}

const ProtocolDriverOptions& OptionsOf(const DistributedSystemDescription& test,
                                       const TestNames& names,
                                       const ServiceSpec& service) {
  const bool named = !service.protocol_driver_options_name().empty();
  const int options = names.driver_options.Find(
      named ? service.protocol_driver_options_name() : kDefaultDriverOptions);
  if (options == kNone) return ProtocolDriverOptions::default_instance();
  return test.protocol_driver_options(options);
}

absl::StatusOr<std::vector<ResolvedDriver>> ResolveDriverStack(
    const DistributedSystemDescription& test, const TestNames& names,
    const ProtocolDriverOptions& options) {
  std::vector<ResolvedDriver> stack;
  absl::StatusOr<ResolvedDriver> next = ResolveDriver(test, names, options);
  for (;;) {
    if (!next.ok()) return next.status();
    const DriverDeclaration& driver = *next->driver;
    if (stack.size() == kMaxDriverDepth) {
      return TooDeep("drivers", driver.name);
    }
    stack.push_back(*next);
    if (driver.decorated_driver_setting.empty()) return stack;
    next = ResolveProtocol(
        test, names,
        StringSetting(next->options->server_settings(), driver.server_settings,
                      driver.decorated_driver_setting));
  }
}

DriverOptions MakeDriverOptions(const std::vector<ResolvedDriver>& stack) {
  DriverOptions options = OptionsOfLevel(stack.back());
  for (int level = static_cast<int>(stack.size()) - 2; level >= 0; --level) {
    DriverOptions outer = OptionsOfLevel(stack[level]);
    outer.decorated.push_back(std::move(options));
    options = std::move(outer);
  }
  return options;
}

}  // namespace distbench
