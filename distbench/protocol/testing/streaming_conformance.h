// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of drivers that stream (protocol/streams.h). A driver runs the suite by
//
//   INSTANTIATE_TEST_SUITE_P(Tcp, StreamingConformanceTest,
//                            testing::Values(DriverUnderTest{...}));

#ifndef DISTBENCH_PROTOCOL_TESTING_STREAMING_CONFORMANCE_H_
#define DISTBENCH_PROTOCOL_TESTING_STREAMING_CONFORMANCE_H_

#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench::protocol {

class StreamingConformanceTest : public DriverConformanceTest {};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TESTING_STREAMING_CONFORMANCE_H_
