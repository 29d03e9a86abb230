// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Lets an instance call servers that are not part of its test.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_ROUTER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_ROUTER_H_

#include <memory>

#include "distbench/products/external/external_calls.h"
#include "distbench/protocol/driver.h"

namespace distbench::external {

// Passes calls of peers whose addresses begin with config::kOutsidePrefix to
// a client of gRPC services (external_client.h), and everything else to
// `inner`. All servers of a peer are of the same kind. There is no nonce:
// whoever allowed the addresses answers for them (docs/security.md).
//
// Connect() waits for the external servers and asks for descriptors that are
// not there (external_channel.h). A call of an RPC that has no ExternalCall
// ends with an error, and so does a call whose request cannot be made.
//
// Counters(): those of `inner`, and "held_back_by_rate": how often calls began
// to wait because the rate of their server would have been exceeded
// (ExternalServer::max_rate, which all workers share).
std::unique_ptr<protocol::ProtocolDriver> MakeExternalRouter(
    std::unique_ptr<protocol::ProtocolDriver> inner, ExternalCalls calls);

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_EXTERNAL_ROUTER_H_
