#include "distbench/cli/device_address.h"

#include <algorithm>
#include <vector>

namespace distbench::cli {

absl::StatusOr<std::string> AddressOrDevice(const std::string& text) {
  if (text.empty()) return text;
  const absl::StatusOr<std::vector<protocol::InterfaceAddress>> devices =
      protocol::ListInterfaceAddresses();
  if (!devices.ok()) return text;  // then it can only be an address
  return AddressOrDevice(text, *devices);
}

absl::StatusOr<std::string> AddressOrDevice(
    const std::string& text,
    absl::Span<const protocol::InterfaceAddress> devices) {
  const bool is_device =
      std::any_of(devices.begin(), devices.end(),
                  [&text](const protocol::InterfaceAddress& each) {
                    return each.interface_name == text;
                  });
  if (!is_device) return text;
  return protocol::ChooseHostAddress(devices, {.netdev = text});
}

}  // namespace distbench::cli
