// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Describes in words who can reach a program's ports and what they can do
// there. Programs print this when they start, to prevent surprises.

#ifndef DISTBENCH_CLI_EXPOSURE_H_
#define DISTBENCH_CLI_EXPOSURE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/protocol/addresses.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"

namespace distbench::cli {

// If `text` is the name of one of this host's network devices, returns the best
// address of that device, so that one command line can serve hosts with
// different addresses; otherwise returns the text. The error says that the
// device has no address.
absl::StatusOr<std::string> AddressOrDevice(const std::string& text);

// The best address of a network device. The error says which devices there are.
absl::StatusOr<std::string> AddressOfDevice(const std::string& device);

// Same, with these devices.
absl::StatusOr<std::string> AddressOfDevice(
    const std::string& device,
    absl::Span<const protocol::InterfaceAddress> devices);
absl::StatusOr<std::string> AddressOrDevice(
    const std::string& text,
    absl::Span<const protocol::InterfaceAddress> devices);

// `listen` is the value of --listen; empty means all interfaces.
std::string SequencerExposure(const std::string& listen,
                              const security::TlsFiles& tls,
                              const security::AccessRules& access);
std::string NodeExposure(const std::string& listen,
                         const std::string& service_address,
                         const security::TlsFiles& tls);

// Such as "Anybody who can reach 10.0.0.7", to begin a sentence about a program
// that does without TLS.
std::string WhoReaches(const std::string& listen);

}  // namespace distbench::cli

#endif  // DISTBENCH_CLI_EXPOSURE_H_
