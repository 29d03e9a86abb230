// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A driver without a network: calls pass by pointer between the instances of
// one process. It shows what the engine alone can do, and lets tests run whole
// systems on a fake clock.
//
// The path of a call: Start() pushes it into the server transport's mailbox;
// that transport's Poll() hands it to its worker; Reply() pushes it into the
// client transport's mailbox; the client's Poll() completes it. Each worker of
// a client sends to one worker of each server. An instance that has shut down
// answers "UNAVAILABLE".
//
// RPCs that stream: see loopback_streams.h.
//
// Time parts: a request arrives when Start() pushes it, so that the server's
// queue is the inbox; the client's inbox counts as network.

#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_DRIVER_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_DRIVER_H_

#include <memory>
#include <string>

#include "distbench/base/clock.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// `clock` must outlive the driver. With a fake clock, poll transports without
// waiting only, that is, with deadlines that have passed. For the other
// arguments, see DriverEnvironment.
std::unique_ptr<ProtocolDriver> MakeLoopbackDriver(
    const base::Clock& clock = base::RealClock(), std::string test_nonce = "",
    bool measures_time_parts = false);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_DRIVER_H_
