// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_REGISTRY_TESTING_DRIVER_REGISTRATION_H_
#define DISTBENCH_PROTOCOL_REGISTRY_TESTING_DRIVER_REGISTRATION_H_

#include <string>

namespace distbench::protocol {

// Expects that the catalog has the driver, with a good declaration, that it can
// be made if it is built in, and that it does what the declaration says.
void ExpectIsRegistered(const std::string& driver);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_REGISTRY_TESTING_DRIVER_REGISTRATION_H_
