#include "distbench/config/support.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/driver_resolution.h"
#include "distbench/config/suggest.h"

namespace distbench {
namespace {

// A list of what is missing: a line is deleted once its feature works.

const std::vector<std::string> kDriversThatRun = {"grpc", "tcp", "loopback"};

// Values that a setting of a driver may have so far.
struct SupportedSetting {
  std::string driver;
  std::string setting;
  std::vector<SettingValue> values;
};

const std::vector<SupportedSetting> kSettings = {
    {"grpc", "client_type", {"polling"}},
    {"grpc", "server_type", {"inline"}},
    {"grpc", "threadpool_type", {""}},
    {"grpc", "threadpool_size", {int64_t{0}}},
};

// Fields of a test that may not be used so far.
struct UnsupportedField {
  std::string feature;
  std::string field;
  std::function<bool(const DistributedSystemDescription&)> is_used;
};

using Test = DistributedSystemDescription;

const std::vector<UnsupportedField> kFields = {
    {"netdev_name", "protocol_driver_options",
     [](const Test& test) {
       return std::any_of(test.protocol_driver_options().begin(),
                          test.protocol_driver_options().end(),
                          [](const ProtocolDriverOptions& options) {
                            return !options.netdev_name().empty();
                          });
     }},
};

std::string NotYet(const std::string& feature) {
  return absl::StrCat("not supported yet: ", feature);
}

std::string ToText(const SettingValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return absl::StrCat(*number);
  }
  return Quoted(std::get<std::string>(value));
}

void CheckSettings(const Path& path, const DriverOptions& options,
                   Problems& problems) {
  for (const SupportedSetting& supported : kSettings) {
    if (options.driver != supported.driver) continue;
    for (const auto* side :
         {&options.client_settings, &options.server_settings}) {
      const auto it = side->find(supported.setting);
      if (it == side->end() ||
          std::find(supported.values.begin(), supported.values.end(),
                    it->second) != supported.values.end()) {
        continue;
      }
      problems.Add(
          path, NotYet(absl::StrCat(supported.setting, " ", ToText(it->second),
                                    " of driver ", Quoted(supported.driver))));
    }
  }
}

void CheckDriver(const Path& test_path, const ResolvedDriver& resolved,
                 Problems& problems) {
  // Drivers that are not built in are refused for good elsewhere.
  if (!resolved.driver->built_in) return;
  const bool has_options =
      resolved.options != &ProtocolDriverOptions::default_instance();
  const Path path = has_options ? test_path.Field("protocol_driver_options")
                                      .At(resolved.options->name())
                                : test_path.Field("default_protocol");
  const DriverOptions options = MakeDriverOptions({resolved});
  if (std::find(kDriversThatRun.begin(), kDriversThatRun.end(),
                options.driver) == kDriversThatRun.end()) {
    problems.Add(path, NotYet(absl::StrCat("driver ", Quoted(options.driver))));
    return;
  }
  CheckSettings(path, options, problems);
}

// Checks the drivers that services use, each once.
void CheckDrivers(const Test& test, const Path& path, Problems& problems) {
  const TestNames names(test);
  std::set<const ProtocolDriverOptions*> checked;
  for (const ServiceSpec& service : test.services()) {
    const auto stack =
        ResolveDriverStack(test, names, OptionsOf(test, names, service));
    if (!stack.ok()) continue;
    for (const ResolvedDriver& level : *stack) {
      if (checked.insert(level.options).second) {
        CheckDriver(path, level, problems);
      }
    }
  }
}

}  // namespace

std::vector<Problem> UnsupportedFeatures(const TestSequence& sequence) {
  Problems problems;
  for (int i = 0; i < sequence.tests_size(); ++i) {
    const Test& test = sequence.tests(i);
    const Path path = Path("tests").At(i);
    for (const UnsupportedField& unsupported : kFields) {
      if (!unsupported.is_used(test)) continue;
      problems.Add(path.Field(unsupported.field), NotYet(unsupported.feature));
    }
    CheckDrivers(test, path, problems);
  }
  return std::move(problems).Take();
}

}  // namespace distbench
