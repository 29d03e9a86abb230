#ifndef DISTBENCH_CLI_DEVICE_ADDRESS_H_
#define DISTBENCH_CLI_DEVICE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/protocol/host_address.h"

namespace distbench::cli {

// If `text` is the name of one of this host's network devices, returns the best
// address of that device, so that one command line can serve hosts with
// different addresses; otherwise returns the text. The error says that the
// device has no address.
absl::StatusOr<std::string> AddressOrDevice(const std::string& text);

// Same, with these devices.
absl::StatusOr<std::string> AddressOrDevice(
    const std::string& text,
    absl::Span<const protocol::InterfaceAddress> devices);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_DEVICE_ADDRESS_H_
