// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A host without IPv6: in every program with this library, from its start, a
// filter makes socket(2) refuse it.

#ifndef TESTS_CONTROL_PLANE_NO_IPV6_H_
#define TESTS_CONTROL_PLANE_NO_IPV6_H_

#include <string>

namespace distbench {

// Whether something accepts connections at this port of 127.0.0.1.
bool IsListening(int port);

// Expects that the driver, which must be registered, listens at a port.
void ExpectDriverListens(const std::string& driver);

}  // namespace distbench

#endif  // TESTS_CONTROL_PLANE_NO_IPV6_H_
