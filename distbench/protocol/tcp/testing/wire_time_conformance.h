// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_TESTING_WIRE_TIME_CONFORMANCE_H_
#define DISTBENCH_PROTOCOL_TCP_TESTING_WIRE_TIME_CONFORMANCE_H_

#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench::protocol {

// Tests of drivers that take time stamps of the wire. A driver runs the suite
// as TimePartsConformanceTest; the drivers stamp all calls.
class WireTimeConformanceTest : public DriverConformanceTest {};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TESTING_WIRE_TIME_CONFORMANCE_H_
