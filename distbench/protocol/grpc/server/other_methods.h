// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a server answers besides the requests that its drivers measure.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_

#include <string>

#include "distbench/protocol/grpc/server/asked_call.h"

namespace distbench::protocol {

// Starts to answer handshakes (channel.h), and calls of methods that nobody
// knows, which gRPC's core would otherwise let wait for a handler. `nonce` is
// the test's, `handshake_method` the result of registering kHandshakeMethod
// with grpc_server_register_method(). Call this before the source's queue is
// polled.
void AnswerOtherMethods(CallSource& source, void* handshake_method,
                        const std::string& nonce);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_OTHER_METHODS_H_
