#include "distbench/cli/legacy_flags.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::cli {
namespace {

constexpr char kControlDevice[] = "--control_plane_device";
constexpr char kDataDevice[] = "--default_data_plane_device";

std::string NameOf(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

// Whether the argument is a flag with one dash and a name. Those of one letter
// have one dash in distbench, too.
bool HasOneDash(const std::string& argument) {
  return argument.size() > 2 && argument[0] == '-' && argument[1] != '-' &&
         argument[2] != '=';
}

// The value of the flag at this position, which moves to its last argument.
// Empty if there is none.
std::string ValueAt(const std::vector<std::string>& arguments, size_t& i) {
  const size_t equals = arguments[i].find('=');
  if (equals != std::string::npos) return arguments[i].substr(equals + 1);
  return i + 1 < arguments.size() ? arguments[++i] : "";
}

absl::Status TakeDevice(
    const std::string& name, const std::string& device, bool is_node,
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& device)>
        address_of,
    TranslatedFlags& translated) {
  if (device.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has no value; name a network device"));
  }
  if (is_node && name == kControlDevice) {
    translated.notes.push_back(
        absl::StrCat(name,
                     " is left out: nothing connects to a node manager, "
                     "except to the services of tests"));
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> address = address_of(device);
  if (!address.ok()) return address.status();
  const char* flag =
      name == kControlDevice ? "--listen=" : "--service_address=";
  translated.arguments.push_back(absl::StrCat(flag, *address));
  translated.notes.push_back(
      absl::StrCat(name, " is taken for ", flag, *address));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TranslatedFlags> TranslateLegacyFlags(
    const std::vector<std::string>& arguments,
    absl::FunctionRef<bool(const std::string& name)> has_flag,
    absl::FunctionRef<absl::StatusOr<std::string>(const std::string& device)>
        address_of) {
  TranslatedFlags translated;
  const bool is_node = !arguments.empty() && arguments[0] == "node_manager";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {
      translated.arguments.insert(translated.arguments.end(),
                                  arguments.begin() + i, arguments.end());
      break;
    }
    std::string argument = arguments[i];
    if (HasOneDash(argument) && has_flag(NameOf(argument).substr(1))) {
      argument.insert(0, "-");
    }
    const std::string name = NameOf(argument);
    if (name == kControlDevice || name == kDataDevice) {
      const std::string device = ValueAt(arguments, i);
      const absl::Status status =
          TakeDevice(name, device, is_node, address_of, translated);
      if (!status.ok()) return status;
    } else {
      translated.arguments.push_back(name == "--helpfull" ? "--help"
                                                          : argument);
    }
  }
  return translated;
}

}  // namespace distbench::cli
